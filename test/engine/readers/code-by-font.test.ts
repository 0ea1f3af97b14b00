import { describe, expect, it } from 'vitest'
import { makeDocx, read, wordParagraph } from './read.js'
import { makePdf } from './render/make-pdf.js'

const typed = (text: string) =>
  `<w:p><w:r><w:rPr><w:rFonts w:ascii="Consolas" w:hAnsi="Consolas"/></w:rPr><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`
const PROSE = wordParagraph('The tide tables of the harbour are computed by the program that follows here.')

async function shown(name: string, file: Buffer): Promise<[string, string | undefined][]> {
  return (await read(name, file)).elements.map(({ type, text }) => [type, text])
}

/** The font `C` sets a line in Courier, `F` in the default font. */
const line = (font: 'C' | 'F', text: string, x: number, y: number) =>
  `BT /${font} 10 Tf ${x} ${y} Td (${text.replace(/[()\\]/g, (sign) => `\\${sign}`)}) Tj ET\n`
const pdf = (content: string) => makePdf([{ width: 600, height: 800, content, fonts: { C: 'Courier' } }])
const prose = [720, 708, 696, 684]
  .map((y) => line('F', 'The tide tables of the harbour are computed by a small program.', 60, y))
  .join('')

describe('the detection of code by monospaced fonts', () => {
  it('finds code in Word by the style or font of consecutive paragraphs', async () => {
    const body = `${PROSE}${typed('def tide(day):')}${typed('  return day * 2')}${PROSE.replace('computed', 'made')}`
    expect(await shown('a.docx', makeDocx(body))).toEqual([
      ['paragraph', expect.stringContaining('computed')],
      ['code', 'def tide(day):\n  return day * 2'],
      ['paragraph', expect.stringContaining('made')],
    ])
    const styles = `<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:style w:type="paragraph" w:styleId="SourceCode"><w:name w:val="Source Code"/></w:style></w:styles>`
    const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
    const styled = makeDocx(`${PROSE}${wordParagraph('a = 1', 'SourceCode')}${wordParagraph('b = 2', 'SourceCode')}`, [
      { name: 'word/styles.xml', content: styles },
      {
        name: 'word/_rels/document.xml.rels',
        content: `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="s" Type="${office}/styles" Target="styles.xml"/></Relationships>`,
      },
    ])
    expect((await shown('b.docx', styled))[1]).toEqual(['code', 'a = 1\nb = 2'])
  })

  it('finds no code in a single line of Word, nor in a document that is monospaced throughout', async () => {
    expect((await shown('a.docx', makeDocx(PROSE + typed('npm test') + PROSE))).map(([type]) => type)).not.toContain(
      'code',
    )
    const whole = makeDocx([1, 2, 3, 4].map((at) => typed(`A typed line, number ${at}.`)).join(''))
    expect((await shown('b.docx', whole)).map(([type]) => type)).not.toContain('code')
  })

  it('finds code in PDFs, with indents and empty lines', async () => {
    const code =
      line('C', 'def tide(day):', 60, 660) +
      line('C', 'if day > 3:', 84, 648) +
      line('C', 'return day', 108, 636) +
      line('C', '}', 60, 624) +
      line('C', 'tide(4)', 60, 600)
    expect(await shown('a.pdf', pdf(prose + code + line('F', 'That is the whole program.', 60, 570)))).toEqual([
      ['paragraph', expect.stringContaining('tide tables')],
      ['code', 'def tide(day):\n    if day > 3:\n        return day\n}\n\ntide(4)'],
      ['paragraph', 'That is the whole program.'],
    ])
  })

  it('finds no code in PDFs with monospaced addresses, single lines, or monospaced text throughout', async () => {
    const addresses = line('C', 'ada@example.org', 60, 660) + line('C', 'https://example.org/a', 60, 648)
    for (const file of [
      pdf(prose + addresses),
      pdf(prose + line('C', 'npm test', 60, 660)),
      pdf([720, 708, 696].map((y) => line('C', 'A line that somebody typed long ago.', 60, y)).join('')),
    ])
      expect((await shown('a.pdf', file)).map(([type]) => type)).not.toContain('code')
  })
})
