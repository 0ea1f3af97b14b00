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
  /** exactly `size` bytes of the file at `path` are sent; with `root`, it must be inside this folder (a real path) */
  content: { path: string; size: number; root?: string } | { bytes: Uint8Array } | { stream: AsyncIterable<Uint8Array> }
}

/** A file of an upload could not be read; the request was abandoned. */
export class UploadReadError extends Error {
  readonly filename: string
  /** whether the file became shorter during the upload */
  readonly hasShrunk: boolean

  constructor(filename: string, cause: unknown, options: { hasShrunk?: boolean } = {}) {
    super(toErrorMessage(cause), { cause })
    this.name = 'UploadReadError'
    this.filename = filename
    this.hasShrunk = options.hasShrunk === true
  }
}

/** A request body with its headers. */
export interface UploadBody {
  contentType: string
  /** bytes; undefined if a part is a stream */
  length: number | undefined
  body: BodyWriter
}

const READ_CHUNK_BYTES = 256 * 1024
/** Smaller chunks are joined: each write costs a system call here and one at the receiver. */
const MAX_JOINED_BYTES = 64 * 1024

/**
 * Builds a multipart/form-data body (RFC 7578) that is read from disk while it is sent, so no complete file is in
 * memory.
 *
 * @param field name of the parts with files
 * @param fields values of the other parts by name
 * @param onBytes called with the number of file bytes passed to the connection since the previous call
 */
export function buildMultipartBody(
  field: string,
  parts: UploadPart[],
  fields: Record<string, string> = {},
  onBytes: (bytes: number) => void = () => undefined,
): UploadBody {
  const boundary = `ks-${randomBytes(18).toString('hex')}`
  const fieldParts = Object.entries(fields).map(([name, value]) => {
    return `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  })
  const closingBoundary = `--${boundary}--\r\n`
  const body: BodyWriter = async (write) => {
    const joiner = new ChunkJoiner(write)
    for (const fieldPart of fieldParts) await joiner.add(Buffer.from(fieldPart))
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
    await joiner.add(Buffer.from(closingBoundary))
    await joiner.flush()
  }
  let length: number | undefined = Buffer.byteLength(fieldParts.join('') + closingBoundary)
  for (const part of parts) {
    const size = sizeOf(part.content)
    if (length === undefined || size === undefined) length = undefined
    else length += Buffer.byteLength(`${formatPartHead(boundary, field, part)}\r\n`) + size
  }
  return { contentType: `multipart/form-data; boundary=${boundary}`, length, body }
}

/** Writes a body and joins its small chunks. */
class ChunkJoiner {
  private readonly write: (chunk: Uint8Array) => Promise<void>
  private chunks: Uint8Array[] = []
  private size = 0

  constructor(write: (chunk: Uint8Array) => Promise<void>) {
    this.write = write
  }

  /** Resolves when more can be added. */
  async add(chunk: Uint8Array): Promise<void> {
    if (this.size + chunk.byteLength > MAX_JOINED_BYTES) await this.flush()
    if (chunk.byteLength > MAX_JOINED_BYTES) {
      await this.write(chunk)
      return
    }
    this.chunks.push(chunk)
    this.size += chunk.byteLength
  }

  async flush(): Promise<void> {
    const { chunks } = this
    const [only] = chunks
    if (only === undefined) return
    this.chunks = []
    this.size = 0
    await this.write(chunks.length === 1 ? only : Buffer.concat(chunks))
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
      const chunkBytes = Math.min(READ_CHUNK_BYTES, size - sent)
      // A new buffer each time: the previous one may not be sent yet.
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes)
      if (bytesRead === 0)
        throw new UploadReadError(filename, 'file became shorter during the upload', { hasShrunk: true })
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
