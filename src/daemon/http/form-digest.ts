import { createHash, type Hash } from 'node:crypto'

/**
 * Digest of a multipart form, independent of its boundary: names, types and bytes of its files in order, and its text
 * fields. Two uploads with equal digests are the same request.
 */
export class FormDigest {
  readonly #files: { name: string; filename: string; mimeType: string; bytes: Hash }[] = []

  /** @returns the hash to update with the bytes of the next file */
  file(name: string, filename: string, mimeType: string): Hash {
    const bytes = createHash('sha256')
    this.#files.push({ name, filename, mimeType, bytes })
    return bytes
  }

  /** Must be called once, after every file has been read. */
  digest(fields: ReadonlyMap<string, string>): string {
    const files = this.#files.map(({ name, filename, mimeType, bytes }) => [
      name,
      filename,
      mimeType,
      bytes.digest('base64'),
    ])
    return createHash('sha256')
      .update(JSON.stringify([files, [...fields].sort()]))
      .digest('base64url')
  }
}
