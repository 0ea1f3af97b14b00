import { createHash, type Hash } from 'node:crypto'

/**
 * What a multipart form said, whatever its boundary was: names, types and bytes of its files in their order, and its
 * text fields. Two uploads with one digest are the same request.
 */
export class FormDigest {
  readonly #files: { name: string; filename: string; mimeType: string; bytes: Hash }[] = []

  /** @returns what takes in the bytes of the next file */
  file(name: string, filename: string, mimeType: string): Hash {
    const bytes = createHash('sha256')
    this.#files.push({ name, filename, mimeType, bytes })
    return bytes
  }

  /** Call once, when every file has been read. */
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
