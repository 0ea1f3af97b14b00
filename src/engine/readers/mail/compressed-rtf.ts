import { readRtfBlocks } from '../office/rtf.js'
import type { Block } from '../parsed.js'

/** Initial content of every dictionary (MS-OXRTFCP 2.1.2.1). */
const INITIAL_DICTIONARY =
  '{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx'
const HEADER_BYTES = 16
const COMPRESSED = 'LZFu'
const UNCOMPRESSED = 'MELA'
const DICTIONARY_BYTES = 4096
/** Bound of the text of a message; the format compresses to an eighth at best. */
const MAX_BYTES = 64 * 1024 * 1024

/** Reads the text of a message that is stored as compressed RTF; no blocks where it is none. */
export function readCompressedRtf(bytes: Buffer): Block[] {
  const rtf = decompressRtf(bytes)
  return rtf.toString('latin1', 0, 5) === '{\\rtf' ? readRtfBlocks(rtf) : []
}

/** Decompresses RTF as far as possible: damage at the end loses only what follows it. */
export function decompressRtf(bytes: Buffer): Buffer {
  if (bytes.length < HEADER_BYTES) return Buffer.alloc(0)
  const kind = bytes.toString('latin1', 8, 12)
  const size = Math.min(bytes.readUInt32LE(4), MAX_BYTES)
  if (kind === UNCOMPRESSED) return bytes.subarray(HEADER_BYTES, HEADER_BYTES + size)
  return kind === COMPRESSED ? decompress(bytes, Math.min(size, (bytes.length - HEADER_BYTES) * 9)) : Buffer.alloc(0)
}

/** @param size maximum of bytes of the result */
function decompress(bytes: Buffer, size: number): Buffer {
  const dictionary = Buffer.alloc(DICTIONARY_BYTES, ' ')
  let write = dictionary.write(INITIAL_DICTIONARY, 'latin1')
  const out = Buffer.alloc(size)
  let length = 0
  const append = (byte: number): void => {
    dictionary[write] = byte
    write = (write + 1) % DICTIONARY_BYTES
    if (length < size) out[length++] = byte
  }
  let offset = HEADER_BYTES
  while (offset < bytes.length && length < size) {
    const flags = bytes[offset++] ?? 0
    for (let bit = 0; bit < 8 && offset < bytes.length; bit++) {
      if ((flags & (1 << bit)) === 0) {
        append(bytes[offset++] ?? 0)
        continue
      }
      if (offset + 2 > bytes.length) return out.subarray(0, length)
      const reference = bytes.readUInt16BE(offset)
      offset += 2
      const start = reference >> 4
      if (start === write) return out.subarray(0, length)
      for (let index = 0; index < (reference & 0xf) + 2; index++)
        append(dictionary[(start + index) % DICTIONARY_BYTES] ?? 0)
    }
  }
  return out.subarray(0, length)
}
