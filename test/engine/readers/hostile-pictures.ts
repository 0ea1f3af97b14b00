import { deflateSync } from 'node:zlib'

/** Pictures of a few bytes that claim enormous sizes (A39, image-bombs), and files of two formats at once (A42). */

const LARGE = 65_535

function chunk(type: string, data: Buffer): Buffer {
  const piece = Buffer.alloc(12 + data.length)
  piece.writeUInt32BE(data.length, 0)
  piece.write(type, 4, 'latin1')
  data.copy(piece, 8)
  return piece
}

function png(): Buffer {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(LARGE, 0)
  head.writeUInt32BE(LARGE, 4)
  head.set([16, 6], 8)
  const profile = Buffer.concat([Buffer.from('icc\0\0'), deflateSync(Buffer.alloc(16 * 1024 * 1024))])
  const pieces = [chunk('IHDR', head), chunk('iCCP', profile), chunk('IDAT', deflateSync(Buffer.alloc(1024 * 1024)))]
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), ...pieces, chunk('IEND', Buffer.alloc(0))])
}

function gif(): Buffer {
  const frame = Buffer.from('2c00000000ffffffff0002024401' + '00', 'hex')
  return Buffer.concat([
    Buffer.from('474946383961ffffffff800000000000ffffff', 'hex'),
    ...Array<Buffer>(100_000).fill(frame),
  ])
}

const JPEG = Buffer.from('ffd8ffe000104a46494600010100000100010000ffc0001108ffffffff03011100021101031101ffd9', 'hex')
const WEBP = Buffer.concat([
  Buffer.from('RIFF\x16\0\0\0WEBPVP8X\x0a\0\0\0', 'latin1'),
  Buffer.from('00000000ffffffffffff', 'hex'),
])
const TIFF = Buffer.from('49492a00080000000200000104000100000000ffff00000101040001000000ffff000000000000', 'hex')
const SVG = Buffer.from(
  `<svg xmlns="http://www.w3.org/2000/svg" width="${LARGE}" height="${LARGE}"><script>alert(1)</script></svg>`,
)

export const PICTURES: Readonly<Record<string, Buffer>> = {
  png: png(),
  gif: gif(),
  jpg: JPEG,
  webp: WEBP,
  tiff: TIFF,
  svg: SVG,
}

const PAGE = '<html><body><script>alert(1)</script></body></html>'
/** Files by name, with the type that their content has. */
export const POLYGLOTS: Readonly<Record<string, { bytes: Buffer; type: string }>> = {
  'script.png': { bytes: Buffer.from(PAGE), type: 'application/octet-stream' },
  'drawing.png': { bytes: SVG, type: 'image/svg+xml' },
  'cat.gif': { bytes: Buffer.from(`GIF89a/*${'\0'.repeat(8)}*/=1;alert(1)//${PAGE}`, 'latin1'), type: 'image/gif' },
  'page.jpg': { bytes: Buffer.concat([JPEG, Buffer.from(PAGE)]), type: 'image/jpeg' },
  'document.webp': { bytes: Buffer.from(`%PDF-1.7\n${PAGE}`), type: 'application/octet-stream' },
  'archive.jpeg': {
    bytes: Buffer.concat([Buffer.from('504b0304', 'hex'), Buffer.alloc(60)]),
    type: 'application/octet-stream',
  },
}
