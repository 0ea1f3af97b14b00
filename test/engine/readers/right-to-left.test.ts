import { existsSync } from 'node:fs'
import { chromium } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { pdfOf } from './hostile-pdfs.js'
import { read } from './read.js'

const BROWSER = '/usr/bin/chromium'
const SIZE = 12
/** Each glyph is 0.6 of the size wide. */
const WIDTH = 0.6 * SIZE

/** Glyphs drawn from left to right; a string of several letters is one glyph. */
interface DrawnLine {
  x: number
  y: number
  glyphs: string[]
}

/** A page whose font maps each glyph to letters, as programs write them. */
function pdfOfGlyphs(lines: readonly DrawnLine[], more = ''): Buffer {
  const names = [...new Set(lines.flatMap(({ glyphs }) => glyphs))]
  const hex = (value: number) => value.toString(16).padStart(4, '0')
  const utf16 = (text: string) => Buffer.from(text, 'utf16le').swap16().toString('hex')
  const map = names.map((text, index) => `<${hex(index + 1)}> <${utf16(text)}>`).join('\n')
  const cmap = `/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /A def 1 begincodespacerange <0000> <ffff> endcodespacerange ${names.length} beginbfchar\n${map}\nendbfchar endcmap end end`
  const content = lines
    .map(({ x, y, glyphs }) => {
      const codes = glyphs.map((text) => hex(names.indexOf(text) + 1)).join('')
      return `BT /F ${SIZE} Tf 1 0 0 1 ${x} ${y} Tm <${codes}> Tj ET`
    })
    .join('\n')
  const stream = (text: string) => `<< /Length ${text.length} >>\nstream\n${text}\nendstream`
  return pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>',
    stream(`${content}\n${more}`),
    '<< /Type /Font /Subtype /Type0 /BaseFont /A /Encoding /Identity-H /DescendantFonts [6 0 R] /ToUnicode 7 0 R >>',
    '<< /Type /Font /Subtype /CIDFontType2 /BaseFont /A /DW 600 /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor 8 0 R >>',
    stream(cmap),
    '<< /Type /FontDescriptor /FontName /A /Flags 4 /FontBBox [0 0 600 800] /Ascent 800 /Descent -200 /CapHeight 700 /ItalicAngle 0 /StemV 80 >>',
  ])
}

/** The glyphs of a text as they are drawn: from right to left from `right` on, numbers and Latin words from left to right. */
function drawn(right: number, y: number, ...pieces: string[]): DrawnLine[] {
  let at = right
  return pieces.map((piece) => {
    const letters = [...piece]
    const glyphs = /[\u0590-\ufeff]/.test(piece) ? letters.reverse() : letters
    at -= glyphs.length * WIDTH
    const line = { x: at, y, glyphs }
    at -= WIDTH
    return line
  })
}

async function textOf(lines: readonly DrawnLine[], more?: string): Promise<string> {
  const { elements } = await read('a.pdf', pdfOfGlyphs(lines, more))
  return elements.map(({ text }) => text).join('\n')
}

describe('a right-to-left line of a PDF', () => {
  it('comes out in reading order, with numbers and Latin words in their own order', async () => {
    const line = drawn(500, 700, 'כתבנו', 'את', 'זה', 'עם', 'Word', '2019', 'בבית', '12')
    expect(await textOf(line)).toBe('כתבנו את זה עם Word 2019 בבית 12')
    expect(await textOf([...line].reverse())).toBe('כתבנו את זה עם Word 2019 בבית 12')
  })

  it('keeps the letters of a ligature in their order, mapped to its letters or to a form of Unicode', async () => {
    const glyphs = ['ة', 'م', 'لا', 'س', 'ل', 'ا']
    expect(await textOf([{ x: 100, y: 700, glyphs }])).toBe('السلامة')
    expect(await textOf([{ x: 100, y: 700, glyphs: ['ﺔ', 'ﻣ', 'ﻼ', 'ﺳ', 'ﻟ', 'ا'] }])).toBe('السلامة')
    expect(await textOf([{ x: 100, y: 700, glyphs: ['ن', 'آ', 'لا'] }])).toBe('لاآن')
  })

  it('keeps brackets that open and close, whichever form the file stores', async () => {
    const stored = (open: string, close: string) => [
      ...drawn(500, 700, 'שלום', 'עולם'),
      { x: 300, y: 700, glyphs: [close, 'א', 'ב', open] },
    ]
    expect(await textOf(stored(')', '('))).toContain('(בא)')
    expect(await textOf(stored('(', ')'))).toContain('(בא)')
  })

  it('keeps an accent after its letter', async () => {
    expect(await textOf([{ x: 100, y: 700, glyphs: ['ם', 'ו', 'ל', 'שׁ'] }])).toBe('שׁלום'.normalize('NFC'))
  })

  it('keeps its place within a left-to-right line', async () => {
    const words = (x: number, text: string) => ({ x, y: 700, glyphs: [...text] })
    const lines = [words(50, 'peace'), words(50 + 6 * WIDTH, 'םולש'), words(50 + 11 * WIDTH, 'is a word')]
    expect(await textOf(lines)).toBe('peace שלום is a word')
  })

  it('continues in the line below it, after a paragraph with an indent at its right', async () => {
    const lines = [
      ...drawn(500, 700, 'אחת', 'שתיים', 'שלוש', 'ארבע', 'חמש', 'שש', 'שבע', 'שמונה', 'תשע'),
      ...drawn(500, 686, 'עשר', 'ושוב', 'אחת', 'שתיים', 'שלוש', 'ארבע', 'חמש', 'שש', 'שבע'),
      ...drawn(500, 672, 'סוף.'),
      ...drawn(470, 658, 'פסקה', 'חדשה', 'מתחילה', 'כאן', 'בשורה', 'הזאת', 'עם', 'הרבה', 'מילים'),
    ]
    expect((await textOf(lines)).split('\n')).toHaveLength(2)
  })

  it('becomes, in a table, a row whose first cell is the right one', async () => {
    const rules = [720, 700, 680, 660].map((y) => `300 ${y - 6} m 500 ${y - 6} l S`)
    const walls = [300, 400, 500].map((x) => `${x} 654 m ${x} 714 l S`)
    const rows = [
      [700, 'שם', 'גיל'],
      [680, 'דנה', '34'],
      [660, 'רון', '29'],
    ] as const
    const lines = rows.flatMap(([y, name, age]) => [...drawn(490, y, name), ...drawn(390, y, age)])
    const { elements } = await read('a.pdf', pdfOfGlyphs(lines, [...rules, ...walls].join('\n')))
    expect(elements.map(({ type, text }) => [type, text])).toEqual([['table', 'שם | גיל\nדנה | 34\nרון | 29']])
  })

  it.skipIf(!existsSync(BROWSER))('is read from a PDF of Chromium as it was written', async () => {
    const texts = [
      'السلام عليكم ورحمة الله. لا إله إلا الله، والأمل الآن كبير في الإسلام (انظر الصفحة 12) رقم 3.5 من القانون.',
      'שלום עולם! זהו מסמך (ראו עמוד 7) עם המילה English words באמצע המשפט, ומספר 1,234.56 בסוף השורה הזאת.',
      'این یک متن فارسی است که شماره‌های ۱۲۳ و ۴۵۶ در آن هست.',
    ]
    const browser = await chromium.launch({ executablePath: BROWSER, args: ['--no-sandbox', '--disable-gpu'] })
    try {
      const page = await browser.newPage()
      await page.setContent(`<html dir=rtl><body>${texts.map((text) => `<p>${text}</p>`).join('')}</body></html>`)
      const { elements } = await read('a.pdf', Buffer.from(await page.pdf()))
      // a non-joiner is not drawn
      expect(elements.map(({ text }) => text).join(' ')).toBe(texts.join(' ').replaceAll('\u200c', ''))
    } finally {
      await browser.close()
    }
  })
})
