import { describe, expect, it } from 'vitest'
import { createRandom } from '../../../bench/lib/words.js'
import { findBlipPictures } from '../../../src/engine/readers/office/blips.js'
import { parseComments } from '../../../src/engine/readers/office/comments.js'
import { readXlsExtras } from '../../../src/engine/readers/office/xls-extras.js'
import { makeOdf, makePptx, makeXlsx, relations, row, shape } from './office.js'
import { makeDoc } from './old-office.js'
import { picture } from './picture.js'
import { makeDocx, read, wordParagraph } from './read.js'
import { biff, chartOf, sheetStream } from './xls-stream.js'

const PNG = picture(200, 150)
const roles = ({ elements }: Awaited<ReturnType<typeof read>>) =>
  elements.map(({ type, text, metadata }) => [type, text, metadata.role].filter((part) => part !== undefined))

/** The picture records of a workbook, continued in further records since each is short. */
function pictureGroup(bytes: Buffer): Buffer[] {
  const parts: Buffer[] = []
  for (let at = 0; at < bytes.length; at += 8000)
    parts.push(biff.record(at === 0 ? 0x00eb : 0x003c, bytes.subarray(at, at + 8000)))
  return parts
}

/** A drawing record with a picture. */
function blip(bytes: Buffer): Buffer {
  const head = Buffer.alloc(8 + 17)
  head.writeUInt16LE(0x6e00, 0)
  head.writeUInt16LE(0xf01e, 2)
  head.writeUInt32LE(17 + bytes.length, 4)
  return Buffer.concat([head, bytes])
}

describe('extra content of office documents', () => {
  it('includes comments with author and the texts of diagrams in Word, but no deleted text', async () => {
    const dgm = 'xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram"'
    const body =
      '<w:p><w:r><w:t>The quay is long.</w:t></w:r><w:r><w:commentReference w:id="7"/></w:r></w:p>' +
      '<w:p><w:ins w:id="1"><w:r><w:t>Added.</w:t></w:r></w:ins><w:del w:id="2"><w:r><w:delText>Gone.</w:delText></w:r></w:del></w:p>' +
      `<w:p><w:r><w:drawing><dgm:relIds ${dgm} r:dm="d1" r:lo="x"/></w:drawing></w:r></w:p>` +
      wordParagraph('The end.')
    const document = await read(
      'a.docx',
      makeDocx(body, [
        {
          name: 'word/comments.xml',
          content:
            '<w:comments><w:comment w:id="7" w:author="Ann"><w:p><w:r><w:t>How </w:t></w:r><w:r><w:t>long?</w:t></w:r></w:p></w:comment></w:comments>',
        },
        {
          name: 'word/_rels/document.xml.rels',
          content: relations([{ id: 'd1', kind: 'diagramData', target: 'diagrams/data1.xml' }]),
        },
        {
          name: 'word/diagrams/data1.xml',
          content: '<dgm:dataModel><a:p><a:t>Plan</a:t></a:p><a:p><a:t>Build</a:t></a:p></dgm:dataModel>',
        },
      ]),
    )
    expect(roles(document)).toEqual([
      ['paragraph', 'The quay is long.'],
      ['paragraph', 'Comment by Ann: How long?', 'comment'],
      ['paragraph', 'Added.'],
      ['list', '- Plan\n- Build'],
      ['paragraph', 'The end.'],
    ])
  })

  it('includes comments with author and notes of any shape in PowerPoint', async () => {
    const comments = '<p:cmLst><p:cm authorId="3"><p:text>Too small</p:text></p:cm></p:cmLst>'
    const bytes = makePptx(
      [
        {
          shapes: shape('Boats', 'title'),
          notes: `<p:notes>${shape('Say it slowly')}${shape('7', 'sldNum')}</p:notes>`,
          relations: [{ id: 'c', kind: 'comments', target: '../comments/comment1.xml' }],
        },
        { shapes: shape('Secret', 'title') },
      ],
      [
        { name: 'ppt/comments/comment1.xml', content: comments },
        { name: 'ppt/commentAuthors.xml', content: '<p:cmAuthorLst><p:cmAuthor id="3" name="Bob"/></p:cmAuthorLst>' },
      ],
    )
    const document = await read('a.pptx', bytes)
    expect(roles(document)).toEqual([
      ['title', 'Boats'],
      ['paragraph', 'Comment by Bob: Too small', 'comment'],
      ['paragraph', 'Say it slowly', 'notes'],
      ['heading', 'Secret'],
    ])
  })

  it('includes comments by cell, text boxes and pictures in Excel', async () => {
    const sheet = {
      name: 'Sales',
      rows: row(1, ['Item', 'Count']) + row(2, ['Nuts', 5]),
    }
    const drawing =
      '<xdr:wsDr><xdr:sp><xdr:txBody><a:p><a:r><a:t>Look here</a:t></a:r></a:p></xdr:txBody></xdr:sp>' +
      '<xdr:pic><xdr:nvPicPr><xdr:cNvPr id="1" name="p" descr="a nut"/></xdr:nvPicPr><xdr:blipFill><a:blip r:embed="p1"/></xdr:blipFill></xdr:pic></xdr:wsDr>'
    const bytes = makeXlsx([sheet], {
      extra: [
        {
          name: 'xl/worksheets/_rels/sheet1.xml.rels',
          content: relations([
            { id: 'a', kind: 'comments', target: '../comments1.xml' },
            { id: 'b', kind: 'drawing', target: '../drawings/drawing1.xml' },
          ]),
        },
        {
          name: 'xl/comments1.xml',
          content:
            '<comments><authors><author>Ann</author></authors><commentList><comment ref="B2" authorId="0"><text><r><t>Counted </t></r><r><t>twice</t></r></text></comment></commentList></comments>',
        },
        { name: 'xl/drawings/drawing1.xml', content: drawing },
        {
          name: 'xl/drawings/_rels/drawing1.xml.rels',
          content: relations([{ id: 'p1', kind: 'image', target: '../media/a.png' }]),
        },
        { name: 'xl/media/a.png', content: PNG },
      ],
    })
    const document = await read('a.xlsx', bytes)
    expect(roles(document)).toEqual([
      ['heading', 'Sales'],
      ['table', 'Item | Count\nNuts | 5'],
      ['paragraph', 'Comment by Ann on B2: Counted twice', 'comment'],
      ['paragraph', 'Look here'],
      ['image', 'a nut'],
    ])
    expect(document.items.find(({ modality }) => modality === 'image')?.asset?.bytes).toBeDefined()
  })

  it('includes comments by cell, text boxes, charts and names of hidden sheets in OpenDocument sheets', async () => {
    const cell = (text: string, inner = '') => `<table:table-cell>${inner}<text:p>${text}</text:p></table:table-cell>`
    const remark =
      '<office:annotation><dc:creator>Ann</dc:creator><dc:date>2024-01-01</dc:date><text:p>Sure?</text:p></office:annotation>'
    const body =
      '<office:spreadsheet><table:table table:name="Sales"><table:shapes><draw:frame><draw:object xlink:href="./Object 1"/></draw:frame>' +
      '<draw:frame><draw:text-box><text:p>Look here</text:p></draw:text-box></draw:frame></table:shapes>' +
      `<table:table-row>${cell('Item')}${cell('Count')}</table:table-row><table:table-row>${cell('Nuts')}${cell('5', remark)}</table:table-row></table:table>` +
      `<table:table table:name="Secret" table:style-name="h"><table:table-row>${cell('Hidden words')}</table:table-row></table:table></office:spreadsheet>`
    const chartCell = (text: string) => `<table:table-cell><text:p>${text}</text:p></table:table-cell>`
    const chart =
      '<office:document-content><office:chart><chart:chart chart:class="chart:bar"><chart:title><text:p>Nuts a year</text:p></chart:title>' +
      `<table:table><table:table-row>${chartCell('')}${chartCell('Sold')}</table:table-row><table:table-row>${chartCell('2023')}${chartCell('5')}</table:table-row></table:table>` +
      '</chart:chart></office:chart></office:document-content>'
    const styles =
      '<style:style style:name="h" style:family="table"><style:table-properties table:display="false"/></style:style>'
    const document = await read(
      'a.ods',
      makeOdf('spreadsheet', body, styles, [{ name: 'Object 1/content.xml', content: chart }]),
    )
    expect(roles(document)).toEqual([
      ['heading', 'Sales'],
      ['table', 'Item | Count\nNuts | 5'],
      ['paragraph', 'Nuts a year', 'caption'],
      ['table', '| Sold\n2023 | 5'],
      ['paragraph', 'Look here'],
      ['paragraph', 'Comment by Ann on B2: Sure?', 'comment'],
      ['heading', 'Secret'],
      ['paragraph', 'Hidden words'],
    ])
    expect(document.metadata.hiddenSheets).toEqual(['Secret'])
  })

  it('includes comments and headers in OpenDocument texts, but no footer of page numbers only', async () => {
    const body =
      '<office:text><text:p>One<office:annotation><dc:creator>Ann</dc:creator><dc:date>2024-01-01</dc:date><text:p>Why?</text:p></office:annotation> boat.</text:p><text:p>Two.</text:p></office:text>'
    const margins =
      '<office:document-styles><style:header><text:p>Port Ellery</text:p></style:header><style:footer><text:p>Page <text:page-number>3</text:page-number></text:p></style:footer></office:document-styles>'
    const document = await read('a.odt', makeOdf('text', body, '', [{ name: 'styles.xml', content: margins }]))
    expect(roles(document)).toEqual([
      ['paragraph', 'One boat.'],
      ['paragraph', 'Comment by Ann: Why?'],
      ['paragraph', 'Two.'],
      ['paragraph', 'Port Ellery', 'header'],
    ])
  })

  it('includes comments, texts of shapes, and pictures with their description in RTF', async () => {
    const hex = PNG.toString('hex')
    const source = `{\\rtf1 One boat{\\footnote A note{\\*\\atnauthor Jo}{\\*\\annotation inner}.}{\\*\\atnauthor Ann}\\chatn{\\*\\annotation Why?}.\\par {\\*\\shppict{\\pict{\\*\\picprop{\\sp{\\sn wzDescription}{\\sv a mast}}}\\pngblip\n${hex}}}{\\nonshppict{\\pict\\wmetafile8 ${hex}}}\\par {\\shp{\\*\\shpinst{\\sp{\\sn gtextUNICODE}{\\sv Sale!}}{\\sp{\\sn fillColor}{\\sv 9}}}}Two.\\par}`
    const document = await read('a.rtf', source)
    expect(roles(document)).toEqual([
      ['paragraph', 'One boat.'],
      ['paragraph', 'A note.'],
      ['paragraph', 'Comment by Ann: Why?', 'comment'],
      ['image', 'a mast'],
      ['paragraph', 'Two.'],
      ['paragraph', 'Sale!'],
    ])
    expect(Buffer.from(document.items[0]?.asset?.bytes ?? [])).toEqual(PNG)
  })

  it('includes a picture of a Word 97 file once, although its stream contains the picture several times', async () => {
    const data = Buffer.concat([Buffer.from('head'), blip(PNG), blip(PNG), PNG])
    const document = await read('a.doc', makeDoc([{ text: 'Words.' }], { streams: { Data: data } }))
    expect(document.items.map(({ modality, asset }) => [modality, asset?.bytes.length])).toEqual([
      ['image', PNG.length],
    ])
  })

  it('includes charts as tables and text boxes in Excel 97, but no text boxes of comments', async () => {
    const stream = sheetStream('Sales', [
      ...chartOf({
        title: 'Nuts a year',
        axis: 'year',
        series: ['Sold'],
        rows: [
          ['2023', 5],
          ['2024', 7.5],
        ],
      }),
      ...biff.textBox('Look here', 6),
      ...biff.textBox('a comment', 0x19),
    ])
    const beside = readXlsExtras(stream)
    expect([...beside.keys()]).toEqual(['Sales'])
    expect(beside.get('Sales')?.map(({ type, text }) => [type, text])).toEqual([
      ['paragraph', 'Nuts a year (year)'],
      ['table', expect.stringMatching(/Sold\n2023 \| 5\n2024 \| 7\.5$/)],
      ['paragraph', 'Look here'],
    ])
  })
})

describe('the readers of extra content in damaged office files', () => {
  const random = createRandom(11)
  const mutated = (bytes: Buffer): Buffer => {
    const copy = Buffer.from(bytes)
    for (let change = 0; change < 1 + random() * 6; change++)
      copy[Math.floor(random() * copy.length)] = Math.floor(random() * 256)
    return random() < 0.2 ? copy.subarray(0, Math.floor(random() * copy.length)) : copy
  }

  it('read streams and pictures of old workbooks to their end without an exception', () => {
    const stream = sheetStream('Sales', [
      ...chartOf({ title: 'Nuts', axis: 'year', series: ['Sold'], rows: [['2023', 5]] }),
      ...biff.textBox('Look here', 6),
      ...pictureGroup(blip(PNG)),
    ])
    expect(
      readXlsExtras(stream)
        .get('')
        ?.map(({ type }) => type),
    ).toEqual(['image'])
    for (let round = 0; round < 400; round++) {
      const bytes = mutated(stream)
      expect(() => readXlsExtras(bytes)).not.toThrow()
      expect(() => findBlipPictures(bytes)).not.toThrow()
    }
  })

  it('read comment parts without an exception, up to 5,000 comments', () => {
    const xml = Buffer.from(
      '<comments><authors><author>Ann</author></authors><comment ref="B2" authorId="0"><text><r><t>Counted</t></r></text></comment></comments>',
    )
    for (let round = 0; round < 300; round++) expect(() => parseComments(mutated(xml).toString('latin1'))).not.toThrow()
    const deep = '<w:comment w:author="x"><w:p><w:t>y</w:t></w:p>'.repeat(20_000)
    expect(parseComments(deep)).toHaveLength(5000)
  })

  it('keep the text of a compound file whose picture stream is damaged', async () => {
    const bytes = makeDoc([{ text: 'Words.' }], { streams: { Data: mutated(blip(PNG)) } })
    expect((await read('a.doc', bytes)).text).toContain('Words.')
  })
})
