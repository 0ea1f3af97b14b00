import { createHash } from 'node:crypto'
import { MAX_PICTURE_BYTES } from '../limits.js'
import type { Picture } from '../parsed.js'

/** Maximal number of pictures of one document. */
const MAX_BLIPS = 2000
/**
 * Size of a record's header, and of the one or two names of 16 bytes and the byte for the use that follow it (MS-ODRAW
 * 2.2.23 and following).
 */
const HEADER_BYTES = 8
const PREFIX_BYTES = [17, 33] as const
/** JPEG, PNG, TIFF and CMYK JPEG; vector pictures (EMF, WMF, PICT) have no pixels. */
const TYPES = new Set([0xf01d, 0xf01e, 0xf029, 0xf02a])
const SIGNATURES = [
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
  Buffer.from([0xff, 0xd8, 0xff]),
  Buffer.from('II*\0', 'latin1'),
  Buffer.from('MM\0*', 'latin1'),
]

/**
 * Finds the pictures that old Office programs store in a stream, each once, in the order of the stream. Finds them by
 * their signatures, and accepts those that follow the header of a record.
 */
export function findBlipPictures(stream: Buffer): Picture[] {
  const blips: { at: number; bytes: Buffer }[] = []
  for (const signature of SIGNATURES) {
    let offset = stream.indexOf(signature)
    while (offset !== -1 && blips.length < MAX_BLIPS) {
      const bytes = readBlip(stream, offset)
      if (bytes !== undefined) blips.push({ at: offset, bytes })
      offset = stream.indexOf(signature, offset + (bytes?.length ?? signature.length))
    }
  }
  return toDistinctPictures(blips.sort((a, b) => a.at - b.at).map(({ bytes }) => bytes))
}

/** The picture of one record. */
export function readBlipPicture(record: Buffer): Picture | undefined {
  return findBlipPictures(record)[0]
}

function readBlip(stream: Buffer, at: number): Buffer | undefined {
  for (const prefix of PREFIX_BYTES) {
    const header = at - prefix - HEADER_BYTES
    if (header < 0 || !TYPES.has(stream.readUInt16LE(header + 2))) continue
    const size = stream.readUInt32LE(header + 4)
    const end = header + HEADER_BYTES + size
    if (size > prefix && end <= stream.length) return stream.subarray(at, end)
  }
  return undefined
}

function toDistinctPictures(all: readonly Buffer[]): Picture[] {
  const seen = new Set<string>()
  const pictures: Picture[] = []
  let totalBytes = 0
  for (const bytes of all) {
    const name = createHash('sha256').update(bytes).digest('hex')
    if (seen.has(name) || totalBytes + bytes.length > MAX_PICTURE_BYTES) continue
    seen.add(name)
    totalBytes += bytes.length
    pictures.push({ bytes: new Uint8Array(bytes) })
  }
  return pictures
}
