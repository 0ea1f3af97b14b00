import { ReadError } from '../limits.js'

/** One page of a TIFF file. */
export interface TiffPage {
  width: number
  height: number
  /** As in EXIF, 1 to 8. */
  orientation: number
  /** Value of tag 259. */
  compression: number
  /** Offset of its directory in the file, in bytes. */
  directoryOffset: number
  /** Offset in the file of the pointer to the next directory, in bytes. */
  nextPointerOffset: number
}

const WIDTH = 256
const HEIGHT = 257
const COMPRESSION = 259
const ORIENTATION = 274
const SHORT = 3
const ENTRY_BYTES = 12

/**
 * Parses the directories of a TIFF file (TIFF 6.0, section 2), which is also the form of EXIF data. The directories
 * form a chain; at most `maxPages` are followed. A chain that leads back to itself or out of the file ends there.
 */
export function parseTiffPages(bytes: Uint8Array, maxPages: number): TiffPage[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const isLittleEndian = bytes[0] === 0x49
  const pages: TiffPage[] = []
  const seen = new Set<number>()
  let offset = bytes.length < 8 ? 0 : view.getUint32(4, isLittleEndian)
  while (offset >= 8 && offset + 6 <= bytes.length && !seen.has(offset) && pages.length < maxPages) {
    seen.add(offset)
    const count = view.getUint16(offset, isLittleEndian)
    const next = offset + 2 + count * ENTRY_BYTES
    if (next > bytes.length) break
    const page: TiffPage = {
      width: 0,
      height: 0,
      orientation: 1,
      compression: 1,
      directoryOffset: offset,
      nextPointerOffset: next,
    }
    for (let entry = offset + 2; entry < next; entry += ENTRY_BYTES) {
      const tag = view.getUint16(entry, isLittleEndian)
      const value =
        view.getUint16(entry + 2, isLittleEndian) === SHORT
          ? view.getUint16(entry + 8, isLittleEndian)
          : view.getUint32(entry + 8, isLittleEndian)
      if (tag === WIDTH) page.width = value
      if (tag === HEIGHT) page.height = value
      if (tag === COMPRESSION) page.compression = value
      if (tag === ORIENTATION && value >= 1 && value <= 8) page.orientation = value
    }
    pages.push(page)
    offset = next + 4 <= bytes.length ? view.getUint32(next, isLittleEndian) : 0
  }
  return pages
}

/** A copy of the file with only one page, for decoders that read only the first. */
export function extractPage(bytes: Uint8Array, page: TiffPage): Uint8Array {
  const copy = Uint8Array.from(bytes)
  const view = new DataView(copy.buffer)
  const isLittleEndian = copy[0] === 0x49
  view.setUint32(4, page.directoryOffset, isLittleEndian)
  if (page.nextPointerOffset + 4 <= copy.length) view.setUint32(page.nextPointerOffset, 0, isLittleEndian)
  return copy
}

/** @throws ReadError when there is no page, or there are more than `maxPages` */
export function listTiffPages(bytes: Uint8Array, filename: string, maxPages: number): TiffPage[] {
  const pages = parseTiffPages(bytes, maxPages + 1)
  if (pages.length === 0) throw new ReadError('malformed', `${filename} is a TIFF file without a page`)
  if (pages.length > maxPages) {
    const limit = maxPages.toLocaleString('en-US')
    throw new ReadError('limit-exceeded', `${filename} has more pages than the limit of ${limit}`)
  }
  return pages
}
