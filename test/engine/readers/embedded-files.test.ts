import { utils, write } from '@e965/xlsx'
import { describe, expect, it } from 'vitest'
import { createRandom } from '../../../bench/lib/words.js'
import { openZip } from '../../../src/engine/readers/archive/zip.js'
import { buildStoredZip } from '../../../src/engine/readers/archive/zip-store.js'
import { DEFAULT_LIMITS, ReadError } from '../../../src/engine/readers/limits.js'
import { makeOdf, makePptx, makeXlsx, relations, row, shape } from './office.js'
import { compound, makeDoc, makePpt } from './old-office.js'
import { makeDocx, makeZip, read, readInside, wordParagraph } from './read.js'

const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value, 0)
  return bytes
}
const wide = (text: string): Buffer => Buffer.concat([u32(text.length), Buffer.from(text, 'utf16le')])

/** A file as an office program embeds it when a user drops it into a document. */
function dropped(name: string, content: string | Buffer, withWide = true): Buffer {
  const file = Buffer.from(content)
  const narrow = Buffer.from(`label.txt\0C:\\Users\\ada\\${withWide ? 'SHORT~1.TXT' : name}\0`, 'latin1')
  const path = Buffer.from('C:\\Temp\\x.tmp\0')
  const names = withWide
    ? Buffer.concat(['C:\\Temp\\x.tmp', name, `C:\\Users\\ada\\${name}`].map(wide))
    : Buffer.alloc(0)
  const body = Buffer.concat([
    Buffer.from([2, 0]),
    narrow,
    Buffer.from([0, 0, 3, 0]),
    u32(path.length),
    path,
    u32(file.length),
    file,
    names,
  ])
  return Buffer.concat([u32(body.length), body])
}

const NATIVE = '\u0001Ole10Native'
const PDF = '%PDF-1.4\n%\u00e2\u00e3 not a whole one'
const SHEET = makeXlsx([{ name: 'Ports', rows: row(1, ['Harbour', 'Tonnage']) + row(2, ['Quillport', 48211]) }])

/** A chart of Microsoft Graph: the cells of its data sheet. */
function graph(): Buffer {
  const record = (type: number, body: Buffer) => {
    const head = Buffer.alloc(4)
    head.writeUInt16LE(type, 0)
    head.writeUInt16LE(body.length, 2)
    return Buffer.concat([head, body])
  }
  const at = (row: number, column: number) => Buffer.from([row, 0, column, 0, 0, 0])
  const number = Buffer.alloc(8)
  number.writeDoubleLE(44.25, 0)
  const cells = [
    record(0x0204, Buffer.concat([at(0, 1), Buffer.from([6, 0, 0]), Buffer.from('Autumn')])),
    record(0x0204, Buffer.concat([at(1, 0), Buffer.from([7, 0]), Buffer.from('Ostwick')])),
    record(0x0203, Buffer.concat([at(1, 1), number])),
  ]
  return compound({ Workbook: Buffer.concat(cells), '\u0001CompObj': Buffer.from('....MSGraph.Chart.8\0') })
}

const word = (id: string): string =>
  `<w:p><w:r><w:object><o:OLEObject Type="Embed" ProgID="Package" r:id="${id}"/></w:object></w:r></w:p>`

/** @param targets parts of `word/embeddings`, by their names and contents */
function docxWith(body: string, targets: readonly (readonly [string, Buffer])[]): Buffer {
  return makeDocx(body, [
    ...targets.map(([name, content]) => ({ name: `word/embeddings/${name}`, content })),
    {
      name: 'word/_rels/document.xml.rels',
      content: relations(
        targets.map(([name], index) => ({ id: `e${index}`, kind: 'oleObject', target: `embeddings/${name}` })),
      ),
    },
  ])
}

describe('files embedded in office files', () => {
  it('become separate documents with their names, and have a line at their position in Word', async () => {
    const docx = docxWith(wordParagraph('Before.') + word('e0') + wordParagraph('Between.') + word('e1') + word('e2'), [
      ['oleObject1.bin', compound({ [NATIVE]: dropped('frachtbrief für ada.txt', 'brass sextant') })],
      ['Microsoft_Excel_Sheet.xlsx', SHEET],
      ['oleObject2.bin', compound({ CONTENTS: Buffer.from(PDF, 'latin1') })],
    ])
    const { document, files } = await readInside('a.docx', docx)
    expect(Object.keys(files)).toEqual(['frachtbrief für ada.txt', 'Microsoft_Excel_Sheet.xlsx', 'oleObject2.pdf'])
    expect(files['frachtbrief für ada.txt']).toBe('brass sextant')
    expect(document.text.split('\n\n')).toEqual([
      'Before.',
      'Embedded file: frachtbrief für ada.txt',
      'Between.',
      'Embedded file: Microsoft_Excel_Sheet.xlsx',
      'Embedded file: oleObject2.pdf',
    ])
  })

  it('have a line on their slide in PowerPoint and their sheet in Excel; the workbook of a chart is no document', async () => {
    const pptx = makePptx(
      [
        { shapes: shape('One', 'title') },
        { shapes: shape('Two', 'title'), relations: [{ id: 'r9', kind: 'package', target: '../embeddings/a.xlsx' }] },
      ],
      [
        { name: 'ppt/embeddings/a.xlsx', content: SHEET },
        { name: 'ppt/embeddings/chart.xlsx', content: SHEET },
        { name: 'ppt/charts/chart1.xml', content: '<c:chartSpace/>' },
        {
          name: 'ppt/charts/_rels/chart1.xml.rels',
          content: relations([{ id: 'r', kind: 'package', target: '../embeddings/chart.xlsx' }]),
        },
      ],
    )
    const slides = await readInside('a.pptx', pptx)
    expect(Object.keys(slides.files)).toEqual(['a.xlsx'])
    const line = slides.document.elements.find(({ text }) => text === 'Embedded file: a.xlsx')
    expect([line?.pageNumber, line?.sectionPath]).toEqual([2, ['Two']])
    const xlsx = makeXlsx([{ name: 'Log', rows: row(1, ['Day', 'Ship']) + row(2, ['Mon', 'Alma']) }], {
      extra: [
        { name: 'xl/embeddings/oleObject1.bin', content: compound({ [NATIVE]: dropped('crew.csv', 'a,b', false) }) },
        {
          name: 'xl/worksheets/_rels/sheet1.xml.rels',
          content: relations([{ id: 'r', kind: 'oleObject', target: '../embeddings/oleObject1.bin' }]),
        },
      ],
    })
    const sheets = await readInside('a.xlsx', xlsx)
    expect(sheets.files).toEqual({ 'crew.csv': 'a,b' })
    expect(sheets.document.elements.at(-1)).toMatchObject({ text: 'Embedded file: crew.csv', sectionPath: ['Log'] })
  })

  it('become documents from the storages of a Word 97 file, with a warning for an object without a file', async () => {
    const letter = makeDoc([{ text: 'The embedded letter.' }])
    const streams = new Map<string, Buffer>()
    const { readCompound } = await import('../../../src/engine/readers/office/compound.js')
    for (const [name, content] of readCompound(letter, 'x')) streams.set(`ObjectPool/_1/${name}`, content)
    streams.set(`ObjectPool/_2/${NATIVE}`, dropped('notes.txt', 'tide tables'))
    streams.set('ObjectPool/_3/Equation Native', Buffer.from('x'))
    const doc = makeDoc([{ text: 'Outer.' }], { streams: Object.fromEntries(streams) })
    const { document, files } = await readInside('a.doc', doc)
    expect(Object.keys(files).sort()).toEqual(['Object 1.doc', 'notes.txt'])
    expect(document.metadata.warnings).toEqual(['embedded objects that hold no file: 1'])
    expect(document.text).toMatch(/^Outer\./)
  })

  it('become documents in an OpenDocument text by their type in the manifest, with a line in the text', async () => {
    const entry = (path: string, type: string) =>
      `<manifest:file-entry manifest:full-path="${path}" manifest:media-type="${type}"/>`
    const odt = makeZip([
      { name: 'mimetype', content: 'application/vnd.oasis.opendocument.text' },
      {
        name: 'META-INF/manifest.xml',
        content: `<manifest:manifest>${entry('/', 'application/vnd.oasis.opendocument.text')}${entry('Object 1/', 'application/vnd.oasis.opendocument.text')}${entry('Object 1/content.xml', 'text/xml')}${entry('Object 2', 'application/vnd.sun.star.oleobject')}</manifest:manifest>`,
      },
      {
        name: 'content.xml',
        content:
          '<office:document-content><office:body><office:text><text:p>Outer.<draw:frame><draw:object xlink:href="./Object 1"/></draw:frame></text:p><text:p><draw:frame><draw:object-ole xlink:href="./Object 2"/></draw:frame>End.</text:p></office:text></office:body></office:document-content>',
      },
      {
        name: 'Object 1/content.xml',
        content:
          '<office:document-content><office:body><office:text><text:p>The embedded letter.</text:p></office:text></office:body></office:document-content>',
      },
      { name: 'Object 2', content: compound({ [NATIVE]: dropped('notes.txt', 'tide tables') }) },
    ])
    const { document, files } = await readInside('a.odt', odt)
    expect(Object.keys(files)).toEqual(['Object 1.odt', 'notes.txt'])
    expect(document.text.split('\n\n')).toEqual([
      'Outer.',
      'Embedded file: Object 1.odt',
      'End.',
      'Embedded file: notes.txt',
    ])
    expect((await read('b.odt', makeOdf('text', '<office:text><text:p>Plain.</text:p></office:text>'))).text).toBe(
      'Plain.',
    )
  })

  it('have a line on their slide in PowerPoint 97, compressed or not; charts become tables', async () => {
    const chart =
      '<office:document-content><office:body><office:chart><chart:chart chart:class="chart:bar"><chart:title><text:p>Herring landed</text:p></chart:title><table:table><table:table-row><table:table-cell/><table:table-cell><text:p>Spring</text:p></table:table-cell></table:table-row><table:table-row><table:table-cell><text:p>Quillport</text:p></table:table-cell><table:table-cell><text:p>11.5</text:p></table:table-cell></table:table-row></table:table></chart:chart></office:chart></office:body></office:document-content>'
    const ppt = makePpt([
      { title: 'One', object: { bytes: compound({ [NATIVE]: dropped('notes.txt', 'tide tables') }), packed: true } },
      {
        title: 'Two',
        object: {
          bytes: compound({ package_stream: makeZip([{ name: 'content.xml', content: chart }]) }),
          packed: false,
        },
      },
      { title: 'Three', object: { bytes: graph(), packed: true } },
    ])
    const { document, files } = await readInside('a.ppt', ppt)
    expect(files).toEqual({ 'notes.txt': 'tide tables' })
    expect(document.elements.map(({ text, pageNumber }) => [text, pageNumber])).toEqual([
      ['One', 1],
      ['Embedded file: notes.txt', 1],
      ['Two', 2],
      ['Herring landed', 2],
      ['| Spring\nQuillport | 11.5', 2],
      ['Three', 3],
      ['| Autumn\nOstwick | 44.25', 3],
    ])
  })

  it('exclude charts of binary workbooks (XLSB), which become tables on their sheet', async () => {
    const book = utils.book_new()
    for (const name of ['Ports', 'More']) utils.book_append_sheet(book, utils.aoa_to_sheet([['Tons'], [4]]), name)
    const zip = openZip(write(book, { bookType: 'xlsb', type: 'buffer' }), 'a.xlsb', DEFAULT_LIMITS)
    const parts = [...zip.entries.keys()].map((name) => [name, zip.read(name)] as const)
    const chart =
      '<c:chartSpace><c:chart><c:plotArea><c:barChart><c:ser><c:tx><c:v>Spring</c:v></c:tx><c:cat><c:pt idx="0"><c:v>Ostwick</c:v></c:pt></c:cat><c:val><c:pt idx="0"><c:v>11.5</c:v></c:pt></c:val></c:ser></c:barChart></c:plotArea></c:chart></c:chartSpace>'
    const added = {
      'xl/worksheets/_rels/sheet2.bin.rels': relations([{ id: 'r', kind: 'drawing', target: '../drawings/d.xml' }]),
      'xl/drawings/d.xml': '<xdr:wsDr><xdr:graphicFrame><c:chart r:id="c"/></xdr:graphicFrame></xdr:wsDr>',
      'xl/drawings/_rels/d.xml.rels': relations([{ id: 'c', kind: 'chart', target: '../charts/chart1.xml' }]),
      'xl/charts/chart1.xml': chart,
    }
    const bytes = buildStoredZip([
      ...parts,
      ...Object.entries(added).map(([name, xml]) => [name, Buffer.from(xml)] as const),
    ])
    const { elements } = await read('a.xlsb', bytes)
    const table = elements.find(({ text }) => text?.includes('Ostwick') === true)
    expect([table?.type, table?.text, table?.sectionPath]).toEqual(['table', '| Spring\nOstwick | 11.5', ['More']])
  })

  it('have a line with the reason if they are too deep, too large or damaged, and the document is read', async () => {
    const docx = docxWith(wordParagraph('Words.'), [
      ['oleObject1.bin', compound({ [NATIVE]: dropped('a.txt', 'x'.repeat(3000)) })],
      ['oleObject2.bin', Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, 1, 2, 3])],
    ])
    const deep = await readInside('a.docx', docx, { depth: 5 })
    expect(deep.document.text).toContain('Embedded file: a.txt (not read: is nested too deeply)')
    const large = await readInside('a.docx', docx, { limits: { containedBytes: 2000 } })
    expect(large.document.text).toMatch(/not read: .*larger than 2 KiB/)
    expect(large.document.text).toMatch(/oleObject2\.bin \(not read: /)
    const many = docxWith(
      wordParagraph('Words.'),
      Array.from({ length: 12 }, (_, index) => [`${index}.xlsx`, SHEET] as const),
    )
    await expect(readInside('a.docx', many, { limits: { containedFiles: 10 } })).rejects.toThrow('the limit of 10')
  })

  it('may have random damage in PowerPoint 97, with a document or a read error as result', {
    timeout: 120_000,
  }, async () => {
    const ppt = makePpt([{ title: 'One', object: { bytes: graph(), packed: false } }, { title: 'Two' }])
    const random = createRandom(12)
    for (let round = 0; round < 200; round++) {
      const copy = Buffer.from(ppt)
      for (let change = 0; change < 1 + random() * 8; change++)
        copy[8 + Math.floor(random() * (copy.length - 8))] = random() < 0.3 ? 0xff : Math.floor(random() * 256)
      try {
        await readInside('a.ppt', copy)
      } catch (error) {
        expect([round, error]).toEqual([round, expect.any(ReadError)])
      }
    }
  })

  it('may have random damage in Word, with a document or a read error as result', { timeout: 120_000 }, async () => {
    const object = compound({ [NATIVE]: dropped('a.txt', 'brass sextant'), WordDocument: Buffer.alloc(600) })
    const random = createRandom(11)
    for (let round = 0; round < 200; round++) {
      const copy = Buffer.from(object)
      for (let change = 0; change < 1 + random() * 8; change++)
        copy[8 + Math.floor(random() * (copy.length - 8))] = random() < 0.3 ? 0xff : Math.floor(random() * 256)
      const bytes = random() < 0.3 ? copy.subarray(0, 9 + Math.floor(random() * copy.length)) : copy
      const docx = docxWith(wordParagraph('Words.'), [['oleObject1.bin', bytes]])
      try {
        expect((await readInside('a.docx', docx)).document.text).toMatch(/^Words\./)
      } catch (error) {
        expect([round, error]).toEqual([round, expect.any(ReadError)])
      }
    }
  })
})
