import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { bytesInWords, ReadError, type ReadLimits } from '../limits.js'
import type { Parsed, Parser, ParserInput } from '../parsed.js'
import { Listing } from './listing.js'
import { readTar } from './tar.js'

const PIECE = 256 * 1024
/** Offset of the signature of a tar archive, and the bytes that are needed to check it. */
const TAR_MARK = { at: 257, text: 'ustar', within: 512 }

/** Reads gzip files: a tar archive as a folder, anything else as one contained file. */
export const gzipParser: Parser = {
  accepts: (mediaType) => mediaType === 'application/gzip',
  parse: parseGzip,
}

async function parseGzip(input: ParserInput): Promise<Parsed> {
  const { bytes, filename, limits, inside } = input
  const inflated = inflate(bytes, filename, limits)
  const first = await start(inflated)
  const whole = again(first, inflated)
  const mark = first.toString('latin1', TAR_MARK.at, TAR_MARK.at + TAR_MARK.text.length)
  if (mark === TAR_MARK.text) return await readTar(whole, input)
  const listing = new Listing(filename)
  const name = nameWithin(bytes, filename)
  const outcome = await inside.add({ name, content: whole })
  listing.note(name, outcome)
  return listing.told()
}

/** @throws ReadError `limit-exceeded` above a limit, `malformed` for damaged or truncated data */
async function* inflate(bytes: Buffer, filename: string, limits: ReadLimits): AsyncGenerator<Buffer> {
  let size = 0
  const most = Math.min(limits.inflatedBytes, Math.max(limits.ratioFloorBytes, bytes.length * limits.inflateRatio))
  try {
    for await (const piece of Readable.from(cut(bytes)).pipe(createGunzip({ chunkSize: PIECE }))) {
      const inflated = Buffer.from(piece)
      size += inflated.length
      if (size > most) break
      yield inflated
    }
  } catch (error) {
    throw new ReadError('malformed', `${filename} is damaged or cut off: it cannot be unpacked`, { cause: error })
  }
  if (size <= most) return
  throw new ReadError(
    'limit-exceeded',
    `${filename} inflates to more than ${bytesInWords(most)}, which is past the decompression limit`,
  )
}

function* cut(bytes: Buffer): Generator<Buffer> {
  for (let from = 0; from < bytes.length; from += PIECE) yield bytes.subarray(from, from + PIECE)
}

/** The first bytes, enough to detect the format of the content. */
async function start(source: AsyncGenerator<Buffer>): Promise<Buffer> {
  const held: Buffer[] = []
  let size = 0
  while (size < TAR_MARK.within) {
    const { done, value } = await source.next()
    if (done === true) break
    held.push(value)
    size += value.length
  }
  return Buffer.concat(held)
}

async function* again(first: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield first
  yield* rest
}

/** Name of the compressed file: from the header (RFC 1952, 2.3), else the name of the archive without its ending. */
function nameWithin(bytes: Buffer, filename: string): string {
  const NAME = 8
  const EXTRA = 4
  const flags = bytes[3] ?? 0
  let at = 10
  if ((flags & EXTRA) !== 0 && at + 2 <= bytes.length) at += 2 + bytes.readUInt16LE(at)
  const end = bytes.indexOf(0, at)
  if ((flags & NAME) !== 0 && end > at && end - at < 1024) {
    const name = bytes.toString('latin1', at, end)
    return name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1)
  }
  const base = filename.slice(filename.lastIndexOf('/') + 1)
  return base.replace(/\.gz$/i, '') || base
}
