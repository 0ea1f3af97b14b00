import { tiffPages } from './tiff.js'

/** Maximal number of JPEG segments inspected before the picture data. */
const MAX_SEGMENTS = 64
const APP1 = 0xe1
const START_OF_SCAN = 0xda

/** EXIF orientation of a JPEG, PNG or WebP file (1 to 8); 1 (upright) when there is none. */
export function exifOrientation(bytes: Uint8Array): number {
  const found = bytes[0] === 0xff ? exifOfJpeg(bytes) : exifOfChunks(bytes)
  return found === undefined ? 1 : (tiffPages(found, 1)[0]?.orientation ?? 1)
}

function exifOfJpeg(bytes: Uint8Array): Uint8Array | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 2
  for (let segment = 0; segment < MAX_SEGMENTS && at + 10 < bytes.length; segment++) {
    const marker = view.getUint16(at)
    if (marker >> 8 !== 0xff || (marker & 0xff) === START_OF_SCAN) return undefined
    const length = view.getUint16(at + 2)
    if ((marker & 0xff) === APP1 && latin1(bytes, at + 4, 6) === 'Exif\0\0') {
      return bytes.subarray(at + 10, at + 2 + length)
    }
    at += 2 + length
  }
  return undefined
}

/** PNG puts the chunk name after the length, WebP before it. */
function exifOfChunks(bytes: Uint8Array): Uint8Array | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const png = latin1(bytes, 1, 3) === 'PNG'
  if (!png && latin1(bytes, 8, 4) !== 'WEBP') return undefined
  let at = png ? 8 : 12
  while (at + 8 <= bytes.length) {
    const length = png ? view.getUint32(at) : view.getUint32(at + 4, true)
    const name = latin1(bytes, png ? at + 4 : at, 4)
    const data = at + 8
    if (name === 'eXIf' || name === 'EXIF') {
      const skipped = latin1(bytes, data, 4) === 'Exif' ? 6 : 0
      return bytes.subarray(data + skipped, data + length)
    }
    at = data + (png ? length + 4 : length + (length & 1))
  }
  return undefined
}

function latin1(bytes: Uint8Array, at: number, length: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + length))
}
