import { describe, expect, it } from 'vitest'
import { createRandom } from '../../../../bench/lib/words.js'
import { ReadError } from '../../../../src/engine/readers/limits.js'
import type { Bitmap } from '../../../../src/engine/readers/render/bitmap.js'
import { encodePng } from '../../../helpers/png.js'
import { read } from '../read.js'
import { makePdf, scansOf } from '../render/make-pdf.js'
import { makeBmp, makeGif, makeTiff } from './picture-files.js'
import { JPEG, WEBP } from './small-pictures.js'

/** Rounds for each of seven formats. */
const ROUNDS = 30
const TIMEOUT_MS = 600_000

async function smallScan(): Promise<Bitmap> {
  const [scan] = await scansOf(
    [{ width: 160, height: 40, content: 'BT /F 18 Tf 10 14 Td (Boats and trains) Tj ET' }],
    72,
  )
  if (scan === undefined) throw new Error('nothing was drawn')
  return scan
}

const random = createRandom(7)

/** Changes some bytes, most of them near the start with the header; sometimes truncates. */
function mutated(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes)
  for (let change = 0; change < 1 + random() * 8; change++) {
    const within = random() < 0.6 ? Math.min(copy.length, 120) : copy.length
    copy[Math.floor(random() * within)] = Math.floor(random() * 256)
  }
  return random() < 0.2 ? copy.subarray(0, Math.floor(random() * copy.length)) : copy
}

describe('mutated pictures and scans', { timeout: TIMEOUT_MS }, () => {
  it('become a document or a read error, and the next intact file is read', async () => {
    const scan = await smallScan()
    const files = {
      'a.png': encodePng(scan),
      'a.gif': makeGif(scan),
      'a.bmp': makeBmp(scan),
      'a.tif': makeTiff([scan, scan], { deflate: true }),
      'a.jpg': JPEG,
      'a.webp': WEBP,
      'a.pdf': makePdf([{ width: 160, height: 40, content: '', picture: scan }]),
    }
    let failures = 0
    for (const [name, bytes] of Object.entries(files)) {
      for (let round = 0; round < ROUNDS; round++) {
        try {
          await read(name, mutated(bytes))
        } catch (error) {
          expect([name, round, error]).toEqual([name, round, expect.any(ReadError)])
          failures++
        }
      }
      expect((await read(name, bytes)).text.length).toBeGreaterThan(8)
    }
    expect(failures).toBeGreaterThan(10)
  })
})
