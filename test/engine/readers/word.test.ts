import { describe, expect, it } from 'vitest'
import { relations } from './office.js'
import { failureOf, makeDocx, makeZip, read, wordParagraph } from './read.js'

const run = (text: string, properties = '') =>
  `<w:r>${properties === '' ? '' : `<w:rPr>${properties}</w:rPr>`}<w:t xml:space="preserve">${text}</w:t></w:r>`
const item = (text: string, list: number, level = 0) =>
  `<w:p><w:pPr><w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="${list}"/></w:numPr></w:pPr>${run(text)}</w:p>`
const cell = (inner: string, properties = '') => `<w:tc><w:tcPr>${properties}</w:tcPr>${inner}</w:tc>`
const table = (...rows: string[]) => `<w:tbl>${rows.map((row) => `<w:tr>${row}</w:tr>`).join('')}</w:tbl>`
const level = (index: number, format: string, text: string, more = '') =>
  `<w:lvl w:ilvl="${index}"><w:start w:val="1"/><w:numFmt w:val="${format}"/><w:lvlText w:val="${text}"/>${more}</w:lvl>`

const NUMBERING = `<w:numbering><w:abstractNum w:abstractNumId="0">${level(0, 'decimal', '%1.', '<w:pStyle w:val="Heading1"/>')}${level(1, 'decimal', '%1.%2', '<w:pStyle w:val="Heading2"/>')}</w:abstractNum>
<w:abstractNum w:abstractNumId="1">${level(0, 'decimal', '%1.')}${level(1, 'lowerLetter', '%2)')}${level(2, 'lowerRoman', '(%3)')}</w:abstractNum>
<w:abstractNum w:abstractNumId="2">${level(0, 'bullet', '•')}${level(1, 'bullet', 'o')}</w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>
<w:num w:numId="3"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num>
<w:num w:numId="4"><w:abstractNumId w:val="2"/></w:num></w:numbering>`
const STYLES = `<w:styles><w:docDefaults><w:rPrDefault><w:rPr><w:sz w:val="22"/></w:rPr></w:rPrDefault></w:docDefaults>
<w:style w:type="paragraph" w:default="1" w:styleId="Standard"><w:name w:val="Normal"/></w:style>
<w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr><w:outlineLvl w:val="0"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Heading2"><w:name w:val="heading 2"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr><w:outlineLvl w:val="1"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Chapter"><w:name w:val="My Chapter"/><w:basedOn w:val="Heading1"/><w:pPr><w:numPr><w:numId w:val="0"/></w:numPr></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Own"><w:name w:val="Own"/><w:pPr><w:outlineLvl w:val="2"/></w:pPr></w:style></w:styles>`

function docx(body: string): Buffer {
  return makeDocx(body, [
    {
      name: 'word/_rels/document.xml.rels',
      content: relations([
        { id: 's', kind: 'styles', target: 'design.xml' },
        { id: 'n', kind: 'numbering', target: 'numbers.xml' },
      ]),
    },
    { name: 'word/design.xml', content: STYLES },
    { name: 'word/numbers.xml', content: NUMBERING },
  ])
}

/** A package with one part, which its relationships and types name as a Word document. */
function makePackage(name: string, xml: string): Buffer {
  const type = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml'
  return makeZip([
    { name: '[Content_Types].xml', content: `<Types><Override PartName="/${name}" ContentType="${type}"/></Types>` },
    { name: '_rels/.rels', content: relations([{ id: 'r', kind: 'officeDocument', target: `/${name}` }]) },
    { name, content: xml },
  ])
}

async function shown(body: string): Promise<unknown[]> {
  const { elements } = await read('a.docx', docx(body))
  return elements.map(({ type, text, metadata }) => [
    type,
    text,
    ...(metadata.level === undefined ? [] : [metadata.level]),
  ])
}

describe('the headings of a Word document', () => {
  it('have their numbers, and their level by style, inherited style or outline level', async () => {
    const body = [
      wordParagraph('Port', 'Heading1'),
      wordParagraph('Quay', 'Heading2'),
      wordParagraph('Crane', 'Heading2'),
      wordParagraph('Town', 'Heading1'),
      wordParagraph('Market', 'Heading2'),
      wordParagraph('Annex', 'Chapter'),
      wordParagraph('Detail', 'Own'),
      `<w:p><w:pPr><w:outlineLvl w:val="3"/></w:pPr>${run('Fine print')}</w:p>`,
    ]
    expect(await shown(body.join(''))).toEqual([
      ['title', '1. Port', 1],
      ['heading', '1.1 Quay', 2],
      ['heading', '1.2 Crane', 2],
      ['heading', '2. Town', 1],
      ['heading', '2.1 Market', 2],
      ['heading', 'Annex', 1],
      ['heading', 'Detail', 3],
      ['heading', 'Fine print', 4],
    ])
  })
})

describe('the lists of a Word document', () => {
  it('have the numbers and levels that Word shows, and continue after other paragraphs and empty items', async () => {
    const body = [
      item('one', 2),
      item('one a', 2, 1),
      item('one b', 2, 1),
      item('deep', 2, 2),
      item('two', 2),
      item('two a', 2, 1),
      wordParagraph('Between.'),
      item('three', 2),
      item('', 2),
      item('five', 2),
      wordParagraph('Between again.'),
      item('restarted', 3),
      item('bullet', 4),
      item('inner', 4, 1),
    ]
    expect(await shown(body.join(''))).toEqual([
      ['list', '1. one\n  a) one a\n  b) one b\n    (i) deep\n2. two\n  a) two a'],
      ['paragraph', 'Between.'],
      ['list', '3. three\n5. five'],
      ['paragraph', 'Between again.'],
      ['list', '1. restarted'],
      ['list', '- bullet\n  - inner'],
    ])
  })
})

describe('the tables of a Word document', () => {
  const p = (text: string) => wordParagraph(text)

  it('remain tables although one cell has a heading, a list, code or a nested table', async () => {
    for (const [rich, text] of [
      [wordParagraph('Costs', 'Own'), 'Costs'],
      [item('steel', 4) + item('rope', 4), 'steel rope'],
      [table(cell(p('a')) + cell(p('b')), cell(p('c')) + cell(p('d'))), 'a b c d'],
    ] as const)
      expect(
        await shown(
          table(cell(p('Part')) + cell(p('Price')), cell(p('Mast')) + cell(rich), cell(p('Sail')) + cell(p('9'))),
        ),
      ).toEqual([['table', `Part | Price\nMast | ${text}\nSail | 9`]])
  })

  it('become text where they arrange long texts in columns', async () => {
    const long = 'The harbour was built in stone and mended in wood. '.repeat(30).trim()
    const made = await shown(table(cell(wordParagraph('Left', 'Own') + p(long)) + cell(p(long))))
    expect(made.map((element) => (Array.isArray(element) ? element[0] : ''))).toEqual([
      'title',
      'paragraph',
      'paragraph',
    ])
  })

  it('have merged cells as spans, header rows, and no deleted rows', async () => {
    const { elements } = await read(
      'a.docx',
      docx(
        `<w:tbl><w:tr><w:trPr><w:tblHeader/></w:trPr>${cell(p('Year'), '<w:vMerge w:val="restart"/>')}${cell(p('Boats'), '<w:gridSpan w:val="2"/>')}</w:tr>` +
          `<w:tr><w:trPr><w:tblHeader/></w:trPr>${cell('<w:p/>', '<w:vMerge/>')}${cell(p('in'))}${cell(p('out'))}</w:tr>` +
          `<w:tr>${cell(p('1900'))}${cell(p('5'))}${cell(p('6'))}</w:tr>` +
          `<w:tr><w:trPr><w:del w:id="1"/></w:trPr>${cell(p('1901'))}${cell(p('7'))}${cell(p('8'))}</w:tr></w:tbl>`,
      ),
    )
    expect(elements[0]?.text).toBe('Year | Boats\n | in | out\n1900 | 5 | 6')
    expect(elements[0]?.metadata).toMatchObject({
      headerRows: 2,
      spans: [
        { row: 0, column: 0, rows: 2, columns: 1 },
        { row: 0, column: 1, rows: 1, columns: 2 },
      ],
    })
  })
})

describe('the text of a Word document', () => {
  it('joins paragraphs whose end is deleted, and has no words of former versions', async () => {
    const first = `<w:p><w:pPr><w:rPr><w:del w:id="1"/></w:rPr><w:pPrChange w:id="9"><w:pPr><w:pStyle w:val="Heading1"/></w:pPr></w:pPrChange></w:pPr>${run('The boat')}</w:p>`
    expect(await shown(first + wordParagraph(' sailed.'))).toEqual([['paragraph', 'The boat sailed.']])
    const moved = first.replace('<w:pPr>', '<w:pPr><w:numPr><w:numId w:val="4"/></w:numPr>')
    expect(await shown(moved + wordParagraph(' sank.'))).toEqual([['paragraph', 'The boat sank.']])
    expect(await shown(table(cell(first) + cell(wordParagraph('a')), cell(wordParagraph('b')) + cell(first)))).toEqual([
      ['table', 'The boat | a\nb | The boat'],
    ])
  })

  it('contains a formula in its place, in one line and as LaTeX in the metadata', async () => {
    const math =
      '<m:oMath><m:r><m:t>x=</m:t></m:r><m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den><m:sSup><m:e><m:r><m:t>c</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:den></m:f></m:oMath>'
    const { elements } = await read('a.docx', docx(`<w:p>${run('So ')}${math}${run(' holds.')}</w:p>`))
    expect(elements.map(({ text, metadata }) => [text, metadata.formulas])).toEqual([
      ['So x=(a+b)/(c^2) holds.', ['x=\\frac{a+b}{c^{2}}']],
    ])
  })

  it('comes from files with other prefixes of namespaces, too, or with none', async () => {
    const word = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main'
    const usual = `<!-- x --><w:document xmlns:w="${word}"><w:body>${wordParagraph('Port', 'Heading1')}${wordParagraph('The quay.')}</w:body></w:document>`
    for (const xml of [
      usual.replaceAll('w:', 'ns0:').replace('xmlns:w=', 'xmlns:ns0='),
      usual.replaceAll('<w:', '<').replaceAll('</w:', '</').replace('xmlns:w=', `xmlns="${word}" xmlns:w=`),
      usual.replace(word, 'http://purl.oclc.org/ooxml/wordprocessingml/main'),
    ]) {
      const { elements } = await read('a.docx', makePackage('other/text.xml', xml))
      expect(elements.map(({ type, text }) => [type, text])).toEqual([
        ['title', 'Port'],
        ['paragraph', 'The quay.'],
      ])
    }
  })

  it('needs tags that match, and survives deeply nested tables and boxes', async () => {
    expect((await failureOf(read('a.docx', makeDocx('<w:p><w:r></w:p>')))).code).toBe('malformed')
    const deep = `${'<w:tbl><w:tr><w:tc>'.repeat(3000)}${wordParagraph('inmost')}${'</w:tc></w:tr></w:tbl>'.repeat(3000)}`
    expect((await read('a.docx', makeDocx(deep))).text).toBe('inmost')
    const boxes = `<w:p>${'<w:r><w:pict><w:txbxContent><w:p>'.repeat(2000)}${run('boxed')}${'</w:p></w:txbxContent></w:pict></w:r>'.repeat(2000)}</w:p>`
    expect((await read('a.docx', makeDocx(boxes))).text).toBe('boxed')
  })
})
