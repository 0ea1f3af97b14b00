import { readRtfBlocks } from '../office/rtf.js'
import type { Block } from '../parsed.js'

/** Initial content of every dictionary (MS-OXRTFCP 2.1.2.1). */
const BEGINNING =
  '{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx'
const HEAD = 16
const PACKED = 'LZFu'
const AS_IT_IS = 'MELA'
const DICTIONARY = 4096
/** Bound of the text of a message; the format compresses to an eighth at best. */
const MAX_BYTES = 64 * 1024 * 1024

/** Reads the text of a message that is stored as compressed RTF; no blocks where it is none. */
export function compressedRtfBlocks(bytes: Buffer): Block[] {
  const rtf = unpackRtf(bytes)
  return rtf.toString('latin1', 0, 5) === '{\\rtf' ? readRtfBlocks(rtf) : []
}

/** Decompresses RTF as far as possible: damage at the end loses only what follows it. */
export function unpackRtf(bytes: Buffer): Buffer {
  if (bytes.length < HEAD) return Buffer.alloc(0)
  const kind = bytes.toString('latin1', 8, 12)
  const size = Math.min(bytes.readUInt32LE(4), MAX_BYTES)
  if (kind === AS_IT_IS) return bytes.subarray(HEAD, HEAD + size)
  return kind === PACKED ? unpacked(bytes, Math.min(size, (bytes.length - HEAD) * 9)) : Buffer.alloc(0)
}

/** @param size maximum of bytes of the result */
function unpacked(bytes: Buffer, size: number): Buffer {
  const dictionary = Buffer.alloc(DICTIONARY, ' ')
  let write = dictionary.write(BEGINNING, 'latin1')
  const out = Buffer.alloc(size)
  let length = 0
  const put = (byte: number): void => {
    dictionary[write] = byte
    write = (write + 1) % DICTIONARY
    if (length < size) out[length++] = byte
  }
  let at = HEAD
  while (at < bytes.length && length < size) {
    const flags = bytes[at++] ?? 0
    for (let bit = 0; bit < 8 && at < bytes.length; bit++) {
      if ((flags & (1 << bit)) === 0) {
        put(bytes[at++] ?? 0)
        continue
      }
      if (at + 2 > bytes.length) return out.subarray(0, length)
      const reference = bytes.readUInt16BE(at)
      at += 2
      const from = reference >> 4
      if (from === write) return out.subarray(0, length)
      for (let index = 0; index < (reference & 0xf) + 2; index++) put(dictionary[(from + index) % DICTIONARY] ?? 0)
    }
  }
  return out.subarray(0, length)
}
