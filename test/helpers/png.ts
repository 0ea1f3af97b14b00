import { crc32, deflateSync } from 'node:zlib'
import type { Bitmap } from '../../src/engine/readers/render/bitmap.js'

const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
/** Filter `Up` of PNG: each byte is the difference to the one above, which compresses pages of text well. */
const UP = 2
/** About as fast as Z_BEST_SPEED; compresses pages to within a fifth of the best ratio. */
const LEVEL = 3

/** Encodes a bitmap as a PNG file (ISO 15948) with 8 bits a channel. */
export function encodePng({ width, height, channels, data }: Bitmap): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header[8] = 8
  header[9] = channels === 1 ? 0 : 6
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(applyUpFilter(data, width * channels, height), { level: LEVEL })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function applyUpFilter(data: Uint8Array, stride: number, height: number): Uint8Array {
  const rows = new Uint8Array((stride + 1) * height)
  for (let y = 0; y < height; y++) {
    const target = y * (stride + 1)
    const source = y * stride
    rows[target] = UP
    for (let x = 0; x < stride; x++) {
      const above = y === 0 ? 0 : (data[source - stride + x] ?? 0)
      rows[target + 1 + x] = (data[source + x] ?? 0) - above
    }
  }
  return rows
}

function chunk(type: string, data: Buffer): Buffer {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(data.length, 0)
  head.write(type, 4, 'latin1')
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(data, crc32(head.subarray(4))), 0)
  return Buffer.concat([head, data, sum])
}
