import { randomBytes } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { toErrorMessage } from '../lib/error-message.js'
import { checkOpened, READ_FLAGS } from '../local/open-inside.js'
import type { BodyWriter } from './http.js'

/** A file of an upload. Its bytes come from a path, from memory, or from a stream such as stdin. */
export interface UploadPart {
  /** relative path with `/` between folders, the name under which the service stores the file */
  filename: string
  mimeType?: string
  /** of a file exactly `size` bytes are sent; with `root`, the file must be inside this folder (a real path) */
  content: { path: string; size: number; root?: string } | { bytes: Uint8Array } | { stream: AsyncIterable<Uint8Array> }
}

/** A file of an upload could not be read; the request was abandoned. */
export class UploadReadError extends Error {
  readonly filename: string
  /** the file became shorter during the upload */
  readonly changed: boolean

  constructor(filename: string, cause: unknown, changed = false) {
    super(toErrorMessage(cause), { cause })
    this.name = 'UploadReadError'
    this.filename = filename
    this.changed = changed
  }
}

const READ_BYTES = 256 * 1024
/** Smaller chunks are joined: each write costs a system call here and one at the receiver. */
const JOIN_MAX_BYTES = 64 * 1024

/**
 * Builds a multipart/form-data body (RFC 7578) that is read from disk while it is sent, so no complete file is in
 * memory.
 *
 * @param field name of the file parts
 * @param onBytes called with the number of file bytes passed to the connection
 * @returns `length` in bytes; undefined if a part is a stream
 */
export function multipartBody(
  field: string,
  parts: UploadPart[],
  fields: Record<string, string> = {},
  onBytes: (bytes: number) => void = () => undefined,
): { contentType: string; length: number | undefined; body: BodyWriter } {
  const boundary = `ks-${randomBytes(18).toString('hex')}`
  const heads = Object.entries(fields).map(([name, value]) => {
    return `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  })
  const end = `--${boundary}--\r\n`
  const body: BodyWriter = async (write) => {
    const joiner = new ChunkJoiner(write)
    for (const head of heads) await joiner.add(Buffer.from(head))
    for (const part of parts) {
      await joiner.add(Buffer.from(formatPartHead(boundary, field, part)))
      for await (const chunk of readPart(part)) {
        await joiner.add(chunk)
        // Bytes of a stream are sent at once: the next ones may come late.
        if ('stream' in part.content) await joiner.flush()
        onBytes(chunk.byteLength)
      }
      await joiner.add(Buffer.from('\r\n'))
    }
    await joiner.add(Buffer.from(end))
    await joiner.flush()
  }
  const sizes = parts.map((part) => sizeOf(part.content))
  const length = sizes.reduce<number | undefined>(
    (sum, size, index) => {
      const part = parts[index]
      if (sum === undefined || size === undefined || part === undefined) return undefined
      return sum + Buffer.byteLength(formatPartHead(boundary, field, part)) + size + 2
    },
    Buffer.byteLength(heads.join('') + end),
  )
  return { contentType: `multipart/form-data; boundary=${boundary}`, length, body }
}

/** Joins small chunks of a body before they are written. */
class ChunkJoiner {
  private readonly write: (chunk: Uint8Array) => Promise<void>
  private pieces: Uint8Array[] = []
  private bytes = 0

  constructor(write: (chunk: Uint8Array) => Promise<void>) {
    this.write = write
  }

  /** Resolves when more can be added. */
  async add(piece: Uint8Array): Promise<void> {
    if (this.bytes + piece.byteLength > JOIN_MAX_BYTES) await this.flush()
    if (piece.byteLength > JOIN_MAX_BYTES) {
      await this.write(piece)
      return
    }
    this.pieces.push(piece)
    this.bytes += piece.byteLength
  }

  async flush(): Promise<void> {
    const { pieces } = this
    const [only] = pieces
    if (only === undefined) return
    this.pieces = []
    this.bytes = 0
    await this.write(pieces.length === 1 ? only : Buffer.concat(pieces))
  }
}

function sizeOf(content: UploadPart['content']): number | undefined {
  if ('bytes' in content) return content.bytes.byteLength
  return 'size' in content ? content.size : undefined
}

function formatPartHead(boundary: string, field: string, part: UploadPart): string {
  const type = part.mimeType ?? 'application/octet-stream'
  const disposition = `form-data; name="${field}"; ${formatFilename(part.filename)}`
  return `--${boundary}\r\ncontent-disposition: ${disposition}\r\ncontent-type: ${type}\r\n\r\n`
}

/** Plain names are quoted; others become RFC 8187 extended values, which are unambiguous about quotes and encoding. */
function formatFilename(filename: string): string {
  if (/^[A-Za-z0-9._/ -]+$/.test(filename)) return `filename="${filename}"`
  const encoded = encodeURIComponent(filename).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `filename*=UTF-8''${encoded}`
}

async function* readPart(part: UploadPart): AsyncGenerator<Uint8Array> {
  if ('bytes' in part.content) {
    yield part.content.bytes
  } else if ('stream' in part.content) {
    for await (const chunk of part.content.stream) yield chunk
  } else {
    yield* readFileChunks(part.filename, part.content)
  }
}

async function* readFileChunks(
  filename: string,
  { path, size, root }: { path: string; size: number; root?: string },
): AsyncGenerator<Uint8Array> {
  let handle: FileHandle | undefined
  try {
    handle = await open(path, READ_FLAGS)
    checkOpened(handle.fd, path, root)
    for (let sent = 0; sent < size; ) {
      const chunkBytes = Math.min(READ_BYTES, size - sent)
      // A new buffer each time: the previous one may not be sent yet.
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes)
      if (bytesRead === 0) throw new UploadReadError(filename, 'file became shorter during the upload', true)
      yield buffer.subarray(0, bytesRead)
      sent += bytesRead
    }
  } catch (error) {
    // Errors of the consumer do not arrive here.
    throw error instanceof UploadReadError ? error : new UploadReadError(filename, error)
  } finally {
    await handle?.close()
  }
}
