import type { Readable } from 'node:stream'

/** The type of a file of a message: of an image from its bytes, of a document from its name. */
export interface ChatFileType {
  mimeType: string
  /** Lower case, without a dot. */
  extension: string
}

/** Number of bytes that the type detection reads. */
export const HEAD_BYTES = 4100

const EXTENSIONS_BY_TYPE: Readonly<Record<string, readonly string[]>> = {
  'image/png': ['png'],
  'image/jpeg': ['jpg', 'jpeg'],
  'image/webp': ['webp'],
  'image/gif': ['gif'],
}

/** The type of a supported image; undefined for anything else. Neither the name nor the declared type counts. */
export async function detectImageType(head: Uint8Array, name: string): Promise<ChatFileType | undefined> {
  const { fileTypeFromBuffer } = await import('file-type')
  const found = await fileTypeFromBuffer(head)
  const mimeType = found?.mime === 'image/apng' ? 'image/png' : found?.mime
  const extensions = EXTENSIONS_BY_TYPE[mimeType ?? '']
  if (mimeType === undefined || extensions === undefined) return undefined
  const nameExtension = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase()
  const extension = extensions.find((candidate) => candidate === nameExtension) ?? extensions[0] ?? ''
  return { mimeType, extension }
}

/** Passes the bytes through and copies the first ones into `head`. */
export async function* teeHead(content: Readable, head: Buffer[]): AsyncGenerator<Buffer> {
  let kept = 0
  for await (const part of content) {
    const chunk: Buffer = Buffer.isBuffer(part) ? part : Buffer.from(part)
    if (kept < HEAD_BYTES) head.push(chunk.subarray(0, HEAD_BYTES - kept))
    kept += chunk.length
    yield chunk
  }
}
