import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { formatByteCount, ReadError, type ReadLimits } from '../limits.js'
import type { ParsedDocument, Parser, ParserInput } from '../parsed.js'
import { ArchiveListing } from './listing.js'
import { CHUNK_BYTES, readTar, splitChunks } from './tar.js'

/** Offset of the signature of a tar archive, and the bytes that are needed to check it. */
const TAR_SIGNATURE = { offset: 257, text: 'ustar', headBytes: 512 }

/** Reads gzip files: a tar archive as a folder, anything else as one contained file. */
export const gzipParser: Parser = {
  parse: parseGzip,
}

async function parseGzip(input: ParserInput): Promise<ParsedDocument> {
  const { bytes, filename, limits, inside: containedFiles } = input
  const inflated = inflate(bytes, filename, limits)
  const head = await readHead(inflated)
  const unpacked = prepend(head, inflated)
  const signature = head.toString('latin1', TAR_SIGNATURE.offset, TAR_SIGNATURE.offset + TAR_SIGNATURE.text.length)
  if (signature === TAR_SIGNATURE.text) return await readTar(unpacked, input)
  const listing = new ArchiveListing(filename)
  const name = getPackedName(bytes, filename)
  listing.add(name, await containedFiles.add({ name, content: unpacked }))
  return listing.toDocument()
}

/** @throws ReadError `limit-exceeded` above a limit, `malformed` for damaged or truncated data */
async function* inflate(bytes: Buffer, filename: string, limits: ReadLimits): AsyncGenerator<Buffer> {
  let size = 0
  const maxBytes = Math.min(limits.inflatedBytes, Math.max(limits.ratioFloorBytes, bytes.length * limits.inflateRatio))
  try {
    for await (const piece of Readable.from(splitChunks(bytes)).pipe(createGunzip({ chunkSize: CHUNK_BYTES }))) {
      const inflated = Buffer.from(piece)
      size += inflated.length
      if (size > maxBytes) break
      yield inflated
    }
  } catch (error) {
    throw new ReadError('malformed', `${filename} is damaged or cut off: it cannot be unpacked`, { cause: error })
  }
  if (size <= maxBytes) return
  throw new ReadError(
    'limit-exceeded',
    `${filename} inflates to more than ${formatByteCount(maxBytes)}, which is past the decompression limit`,
  )
}

/** The first bytes, enough to detect the format of the content. */
async function readHead(source: AsyncGenerator<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  while (size < TAR_SIGNATURE.headBytes) {
    const { done, value } = await source.next()
    if (done === true) break
    chunks.push(value)
    size += value.length
  }
  return Buffer.concat(chunks)
}

async function* prepend(head: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield head
  yield* rest
}

/** Name of the compressed file: from the header (RFC 1952, 2.3), else the name of the archive without its ending. */
function getPackedName(bytes: Buffer, filename: string): string {
  const NAME = 8
  const EXTRA = 4
  const flags = bytes[3] ?? 0
  let offset = 10
  if ((flags & EXTRA) !== 0 && offset + 2 <= bytes.length) offset += 2 + bytes.readUInt16LE(offset)
  const end = bytes.indexOf(0, offset)
  if ((flags & NAME) !== 0 && end > offset && end - offset < 1024) {
    const name = bytes.toString('latin1', offset, end)
    return name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1)
  }
  const base = filename.slice(filename.lastIndexOf('/') + 1)
  return base.replace(/\.gz$/i, '') || base
}
