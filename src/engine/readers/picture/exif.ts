import { parseTiffPages } from './tiff.js'

/** Maximal number of JPEG segments inspected before the picture data. */
const MAX_SEGMENTS = 64
const APP1 = 0xe1
const START_OF_SCAN = 0xda

/** EXIF orientation of a JPEG, PNG or WebP file (1 to 8); 1 (upright) when there is none. */
export function readExifOrientation(bytes: Uint8Array): number {
  const exif = bytes[0] === 0xff ? findJpegExif(bytes) : findChunkExif(bytes)
  return exif === undefined ? 1 : (parseTiffPages(exif, 1)[0]?.orientation ?? 1)
}

function findJpegExif(bytes: Uint8Array): Uint8Array | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let offset = 2
  for (let segment = 0; segment < MAX_SEGMENTS && offset + 10 < bytes.length; segment++) {
    const marker = view.getUint16(offset)
    if (marker >> 8 !== 0xff || (marker & 0xff) === START_OF_SCAN) return undefined
    const length = view.getUint16(offset + 2)
    if ((marker & 0xff) === APP1 && latin1(bytes, offset + 4, 6) === 'Exif\0\0') {
      return bytes.subarray(offset + 10, offset + 2 + length)
    }
    offset += 2 + length
  }
  return undefined
}

/** PNG puts the chunk name after the length, WebP before it. */
function findChunkExif(bytes: Uint8Array): Uint8Array | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const isPng = latin1(bytes, 1, 3) === 'PNG'
  if (!isPng && latin1(bytes, 8, 4) !== 'WEBP') return undefined
  let offset = isPng ? 8 : 12
  while (offset + 8 <= bytes.length) {
    const length = isPng ? view.getUint32(offset) : view.getUint32(offset + 4, true)
    const name = latin1(bytes, isPng ? offset + 4 : offset, 4)
    const data = offset + 8
    if (name === 'eXIf' || name === 'EXIF') {
      const prefixLength = latin1(bytes, data, 4) === 'Exif' ? 6 : 0
      return bytes.subarray(data + prefixLength, data + length)
    }
    offset = data + (isPng ? length + 4 : length + (length & 1))
  }
  return undefined
}

function latin1(bytes: Uint8Array, offset: number, length: number): string {
  return String.fromCharCode(...bytes.subarray(offset, offset + length))
}
