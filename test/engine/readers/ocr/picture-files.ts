import { deflateSync } from 'node:zlib'
import type { Bitmap } from '../../../../src/engine/readers/render/bitmap.js'

/** A grey bitmap as BMP: 8 bits with a palette. */
export function makeBmp({ width, height, data }: Bitmap): Buffer {
  const stride = (width + 3) & ~3
  const head = Buffer.alloc(54 + 1024)
  head.write('BM', 0, 'latin1')
  head.writeUInt32LE(head.length + stride * height, 2)
  head.writeUInt32LE(head.length, 10)
  head.writeUInt32LE(40, 14)
  head.writeInt32LE(width, 18)
  head.writeInt32LE(height, 22)
  head.writeUInt16LE(1, 26)
  head.writeUInt16LE(8, 28)
  head.writeUInt32LE(stride * height, 34)
  head.writeUInt32LE(256, 46)
  for (let value = 0; value < 256; value++) head.fill(value, 54 + value * 4, 54 + value * 4 + 3)
  const rows = Buffer.alloc(stride * height)
  for (let y = 0; y < height; y++) rows.set(data.subarray(y * width, (y + 1) * width), (height - 1 - y) * stride)
  return Buffer.concat([head, rows])
}

/** A grey bitmap as GIF, in nine-bit codes without compression. */
export function makeGif({ width, height, data }: Bitmap): Buffer {
  const head = Buffer.alloc(13 + 768)
  head.write('GIF89a', 0, 'latin1')
  head.writeUInt16LE(width, 6)
  head.writeUInt16LE(height, 8)
  head[10] = 0xf7
  for (let value = 0; value < 256; value++) head.fill(value, 13 + value * 3, 16 + value * 3)
  const image = Buffer.alloc(11)
  image[0] = 0x2c
  image.writeUInt16LE(width, 5)
  image.writeUInt16LE(height, 7)
  image[10] = 8
  const codes: number[] = []
  let held = 0
  let bits = 0
  const put = (code: number): void => {
    held |= code << bits
    bits += 9
    while (bits >= 8) {
      codes.push(held & 0xff)
      held >>= 8
      bits -= 8
    }
  }
  // Sends a clear code before the table grows to ten-bit codes.
  for (const [place, value] of data.entries()) {
    if (place % 250 === 0) put(256)
    put(value)
  }
  put(257)
  codes.push(held & 0xff)
  const blocks: Buffer[] = []
  for (let at = 0; at < codes.length; at += 255) {
    const block = codes.slice(at, at + 255)
    blocks.push(Buffer.from([block.length, ...block]))
  }
  return Buffer.concat([head, image, ...blocks, Buffer.from([0, 0x3b])])
}

/** Grey bitmaps as the pages of a TIFF, compressed by Deflate or uncompressed. */
export function makeTiff(pages: readonly Bitmap[], options: { deflate?: boolean; orientation?: number } = {}): Buffer {
  const parts: Buffer[] = [Buffer.from('II*\0\0\0\0\0', 'latin1')]
  let offset = 8
  let link = { part: 0, at: 4 }
  for (const { width, height, data } of pages) {
    const packed = options.deflate === true ? deflateSync(data) : Buffer.from(data)
    const even = Buffer.concat([packed, Buffer.alloc(packed.length & 1)])
    parts.push(even)
    const tags: [number, number, number][] = [
      [256, 4, width],
      [257, 4, height],
      [258, 3, 8],
      [259, 3, options.deflate === true ? 8 : 1],
      [262, 3, 1],
      [273, 4, offset],
      [274, 3, options.orientation ?? 1],
      [277, 3, 1],
      [278, 4, height],
      [279, 4, packed.length],
    ]
    offset += even.length
    parts[link.part]?.writeUInt32LE(offset, link.at)
    const directory = Buffer.alloc(2 + tags.length * 12 + 4)
    directory.writeUInt16LE(tags.length, 0)
    for (const [place, [tag, type, value]] of tags.entries()) {
      const at = 2 + place * 12
      directory.writeUInt16LE(tag, at)
      directory.writeUInt16LE(type, at + 2)
      directory.writeUInt32LE(1, at + 4)
      directory.writeUInt32LE(value, at + 8)
    }
    link = { part: parts.length, at: directory.length - 4 }
    parts.push(directory)
    offset += directory.length
  }
  return Buffer.concat(parts)
}
