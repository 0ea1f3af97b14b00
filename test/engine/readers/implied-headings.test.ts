import { describe, expect, it } from 'vitest'
import type { CompiledDocument, CompiledOutlineNode } from '../../../src/engine/store/compiled.js'
import { pdfOf } from './hostile-pdfs.js'
import { makeOdf } from './office.js'
import { makeDocx, read } from './read.js'

const PROSE =
  'The company sells lamps to lighthouses, and has sold them for longer than any of its rivals, in every country that has a coast.'

/** Headings of the outline with their levels, such as `1 Title`. */
function outlineOf({ outline }: CompiledDocument): string[] {
  const lines: string[] = []
  const walk = (nodes: CompiledOutlineNode[]): void => {
    for (const node of nodes) {
      if (node.tocSource === 'heading') lines.push(`${node.level} ${node.title}`)
      walk(node.children)
    }
  }
  walk(outline)
  return lines
}

const FILING = [
  '1 PART I',
  '2 Item 1. Business',
  '3 Overview',
  '2 Item 1A. Risk Factors',
  '1 PART II',
  '2 Item 5. Market',
]

describe('the detection of implied headings', () => {
  it('uses weight, numbering and table of contents in an HTML filing', async () => {
    const bold = (text: string): string => `<div style="font:bold 10pt Times">${text}</div>`
    const plain = (text: string): string => `<div style="font:10pt Times">${text}</div>`
    const html = `<html><body>${bold('TABLE OF CONTENTS')}<table>
      <tr><td><a href="#i1">Item 1.</a></td><td><a href="#i1">Business</a></td><td><a href="#i1">3</a></td></tr>
      <tr><td><a href="#i1a">Item 1A.</a></td><td><a href="#i1a">Risk Factors</a></td><td>5</td></tr>
      <tr><td><a href="#i5">Item 5.</a></td><td><a href="#i5">Market</a></td><td>9</td></tr>
      <tr><td><a href="#sig">Signatures</a></td><td></td><td>12</td></tr></table>
      ${bold('PART I')}<a name="i1"></a>${bold('Item 1. Business')}${bold('Overview')}${plain(PROSE)}${plain(`As Item 7 of this report says, ${PROSE}`)}
      <table id="i1a"><tr><td>Item 1A.</td><td>Risk Factors</td></tr></table>${plain(PROSE)}${plain(PROSE)}
      ${bold('PART II')}<a name="i5"></a>${bold('Item 5. Market')}${plain(PROSE)}${plain('(in thousands)')}<p id="sig">Signatures</p>${plain(PROSE)}</body></html>`
    expect(outlineOf(await read('filing.html', html))).toEqual(['1 TABLE OF CONTENTS', ...FILING, '3 Signatures'])
  })

  it('uses CSS classes in an HTML page, and excludes bold labels and bold words of a sentence', async () => {
    const html = `<html><head><style>.c1{font-weight:700;font-size:18pt}.c2 { font-weight:700 }</style></head><body>
      <p><span class="c1">Lamps</span></p><p>${PROSE}</p><p><span class="c2">Oil</span></p><p>${PROSE}</p>
      <p><span class="c2">Name:</span></p><p>${PROSE}</p><p>${PROSE} <span class="c2">bold words</span> ${PROSE}</p></body></html>`
    expect(outlineOf(await read('a.html', html))).toEqual(['1 Lamps', '2 Oil'])
  })

  it('adds no heading to a page with heading elements', async () => {
    const html = `<html><body><h1>Lamps</h1><p>${PROSE}</p><p><b>Oil</b></p><p>${PROSE}</p></body></html>`
    expect(outlineOf(await read('a.html', html))).toEqual(['1 Lamps'])
  })

  it('finds no heading in a page where everything is bold', async () => {
    const html = `<html><body><b>${Array.from({ length: 20 }, () => `<p>Lamps and oil</p><p>${PROSE}</p>`).join('')}</b></body></html>`
    expect(outlineOf(await read('a.html', html))).toEqual([])
  })

  it('uses large and bold lines in a Word document without styles', async () => {
    const run = (text: string, properties: string): string =>
      `<w:p><w:r><w:rPr>${properties}</w:rPr><w:t>${text}</w:t></w:r></w:p>`
    const body = [
      run('Lamps of the coast', '<w:sz w:val="36"/>'),
      run(PROSE, ''),
      run('Oil', '<w:b/>'),
      run(PROSE, ''),
      run('Prices of the year', '<w:sz w:val="36"/>'),
      run(PROSE, ''),
    ].join('')
    const properties =
      '<cp:coreProperties><dc:creator>Ida Keller; Jo Berg</dc:creator><dcterms:created>2020-01-02T03:04:05Z</dcterms:created><dcterms:modified>2021-01-02T03:04:05Z</dcterms:modified></cp:coreProperties>'
    const document = await read('a.docx', makeDocx(body, [{ name: 'docProps/core.xml', content: properties }]))
    expect(outlineOf(document)).toEqual(['1 Lamps of the coast', '2 Oil', '1 Prices of the year'])
    expect(document.metadata).toEqual({
      documentDate: '2021-01-02T03:04:05.000Z',
      dateModified: '2021-01-02T03:04:05.000Z',
      dateCreated: '2020-01-02T03:04:05.000Z',
      author: 'Ida Keller, Jo Berg',
      authors: ['Ida Keller', 'Jo Berg'],
    })
  })

  it('uses large and bold styles in an OpenDocument text', async () => {
    const styles =
      '<style:style style:name="P1"><style:text-properties fo:font-weight="bold" fo:font-size="16pt"/></style:style>' +
      '<style:style style:name="T1"><style:text-properties fo:font-weight="bold"/></style:style>'
    const body = `<office:text><text:p text:style-name="P1">Lamps</text:p><text:p>${PROSE}</text:p>
      <text:p><text:span text:style-name="T1">Oil</text:span></text:p><text:p>${PROSE} <text:span text:style-name="T1">bold</text:span> words</text:p></office:text>`
    expect(outlineOf(await read('a.odt', makeOdf('text', body, styles)))).toEqual(['1 Lamps', '2 Oil'])
  })

  it('uses large and bold paragraphs in rich text', async () => {
    const source = String.raw`{\rtf1\ansi{\fs36\b Lamps\par}${PROSE}\par{\b Oil\par}${PROSE} {\b bold} words\par\pard ${PROSE}\par}`
    expect(outlineOf(await read('a.rtf', source))).toEqual(['1 Lamps', '2 Oil'])
  })

  it('uses bold lines and the table of contents in a PDF', async () => {
    expect(outlineOf(await read('a.pdf', filing()))).toEqual(expect.arrayContaining(FILING))
    const { elements } = await read('a.pdf', filing())
    expect(elements.filter(({ text }) => text === 'Lamps Inc. Annual report')).toHaveLength(1)
  })
})

/** A filing of six pages: contents, bold section titles in the size of the text, and a running head. */
function filing(): Buffer {
  const contents = [
    'PART I',
    'Item 1. Business 2',
    'Item 1A. Risk Factors 3',
    'PART II',
    'Item 5. Market 4',
    'Item 6. Reserved 5',
    'Signatures 6',
  ]
  const pages = [
    ['*Table of contents', ...contents],
    ['*PART I', '*Item 1. Business', '*Overview', ...lines()],
    ['*Item 1A. Risk Factors', ...lines()],
    ['*PART II', '*Item 5. Market', ...lines()],
    ['*Item 6. Reserved', ...lines()],
    ['*Signatures', ...lines()],
  ]
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, at) => `${5 + 2 * at} 0 R`).join(' ')}] >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >>',
  ]
  for (const [at, page] of pages.entries()) {
    let y = 780
    const drawn = ['Lamps Inc. Annual report', ...page].map((line) => {
      const bold = line.startsWith('*')
      if (bold) y -= 12
      const text = line.replace(/^\*/, '').replaceAll(/[()\\]/g, '\\$&')
      y -= 14
      return `BT /F${bold ? 2 : 1} 10 Tf 50 ${y} Td (${text}) Tj ET`
    })
    const stream = drawn.join('\n')
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${6 + 2 * at} 0 R /Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>`,
      `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
    )
  }
  return pdfOf(objects)
}

function lines(): string[] {
  return [PROSE.slice(0, 70), PROSE.slice(70, 130), 'and so it goes on for many years.']
}
