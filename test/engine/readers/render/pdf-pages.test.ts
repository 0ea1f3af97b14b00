import { inflateSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { ReadError } from '../../../../src/engine/readers/limits.js'
import { MAX_PIXELS } from '../../../../src/engine/readers/render/bitmap.js'
import { openPages } from '../../../../src/engine/readers/render/pdf-pages.js'
import { encodePng } from '../../../helpers/png.js'
import { makePdf } from './make-pdf.js'

/** A page of 200 × 100 points whose lower left quarter is red. */
const RED_QUARTER = makePdf([{ width: 200, height: 100, content: '1 0 0 rg 0 0 100 50 re f' }])

describe('the rendering of PDF pages', () => {
  it('gives the size and the colours of a page at the requested resolution', async () => {
    const pages = await openPages(RED_QUARTER, 'red.pdf')
    expect(pages.count).toBe(1)
    expect(pages.size(1)).toEqual({ width: 200, height: 100 })
    const picture = pages.render(1, { dpi: 144 })
    pages.close()
    expect([picture.width, picture.height, picture.channels]).toEqual([400, 200, 4])
    const pixel = (x: number, y: number) => [...picture.data.subarray((y * 400 + x) * 4, (y * 400 + x) * 4 + 4)]
    expect(pixel(50, 150)).toEqual([255, 0, 0, 255])
    expect(pixel(50, 50)).toEqual([255, 255, 255, 255])
    expect(pixel(350, 150)).toEqual([255, 255, 255, 255])
  })

  it('may be limited to a region, and to grey with one byte a pixel', async () => {
    const pages = await openPages(RED_QUARTER, 'red.pdf')
    const region = { left: 90, top: 40, width: 20, height: 20 }
    const part = pages.render(1, { dpi: 72, region, grey: true })
    pages.close()
    expect([part.width, part.height, part.channels, part.data.length]).toEqual([20, 20, 1, 400])
    const dark = [...part.data].filter((value) => value < 200).length
    expect(dark).toBe(100)
    expect(part.data[19 * 20]).toBeLessThan(200)
    expect(part.data[0]).toBe(255)
  })

  it('lowers the resolution of pages with too many pixels', async () => {
    const pages = await openPages(makePdf([{ width: 14_400, height: 14_400, content: '' }]), 'poster.pdf')
    const picture = pages.render(1, { dpi: 300, grey: true })
    pages.close()
    expect(picture.width * picture.height).toBeLessThanOrEqual(MAX_PIXELS * 1.01)
    expect(picture.dpi).toBeCloseTo(20, 1)
  })

  it('gives pixels that encoding as PNG leaves unchanged', async () => {
    const pages = await openPages(RED_QUARTER, 'red.pdf')
    const picture = pages.render(1, { dpi: 36 })
    pages.close()
    const png = encodePng(picture)
    expect(png.subarray(1, 4).toString()).toBe('PNG')
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([100, 50])
    const rows = inflateSync(png.subarray(41, 41 + png.readUInt32BE(33)))
    const stride = 100 * 4 + 1
    const unfiltered = new Uint8Array(100 * 4 * 50)
    for (let y = 0; y < 50; y++) {
      expect(rows[y * stride]).toBe(2)
      for (let x = 0; x < 400; x++) {
        const above = y === 0 ? 0 : (unfiltered[(y - 1) * 400 + x] ?? 0)
        unfiltered[y * 400 + x] = (rows[y * stride + 1 + x] ?? 0) + above
      }
    }
    expect(Buffer.from(unfiltered).equals(Buffer.from(picture.data))).toBe(true)
  })

  it('fails for bytes that are no PDF, and for a missing page', async () => {
    await expect(openPages(Buffer.from('%PDF-1.7 nothing else'), 'broken.pdf')).rejects.toThrow(/broken\.pdf/)
    const pages = await openPages(RED_QUARTER, 'red.pdf')
    expect(() => pages.render(2, { dpi: 72 })).toThrow(ReadError)
    pages.close()
  })

  it('gives pictures or a read error for mutated PDF files', async () => {
    let failures = 0
    for (let round = 0; round < 60; round++) {
      const bytes = Buffer.from(RED_QUARTER)
      for (let change = 0; change < 6; change++) {
        const at = (round * 7919 + change * 104_729) % bytes.length
        bytes[at] = (round * 31 + change * 17) % 256
      }
      try {
        const pages = await openPages(bytes, 'mutated.pdf')
        for (let page = 1; page <= Math.min(3, pages.count); page++) pages.render(page, { dpi: 36 })
        pages.close()
      } catch (error) {
        expect(error).toBeInstanceOf(ReadError)
        failures++
      }
    }
    expect(failures).toBeGreaterThan(0)
  })
})
