import { describe, expect, it } from 'vitest'
import { makePptx, makeXlsx, relations, row, shape } from './office.js'
import { makeDocx, makeZip, read, readInside, wordParagraph } from './read.js'

const TYPES = 'application/vnd.openxmlformats-officedocument'
const WORD = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main'

describe('the parts of an Office Open XML package', () => {
  it('give the media type by the main part that the relationships name, and by its content type', async () => {
    const files = (name: string, type: string) => [
      { name: '[Content_Types].xml', content: `<Types><Override PartName="/${name}" ContentType="${type}"/></Types>` },
      { name: '_rels/.rels', content: relations([{ id: 'r', kind: 'officeDocument', target: name }]) },
      { name: 'word/document.xml', content: `<w:document xmlns:w="${WORD}"/>` },
      { name: 'xl/workbook.xml', content: '<workbook/>' },
    ]
    const typeOf = async (name: string, type: string) =>
      await read('a.bin', makeZip([...files(name, type), { name, content: '<x/>' }])).then(
        ({ mediaType }) => mediaType,
        (error: Error) => error.message,
      )
    expect(await typeOf('deck.xml', `${TYPES}.presentationml.slideshow.main+xml`)).toContain('a.bin has no slides')
    expect(await typeOf('book.xml', 'application/vnd.ms-excel.sheet.macroEnabled.main+xml')).toMatch(
      /workbook|filled cells/,
    )
    expect(await typeOf('ppt/other.xml', '')).toContain('a.bin has no slides')
  })

  it('have names whose case does not matter, and absolute or relative targets', async () => {
    const document = `<w:document xmlns:w="${WORD}"><w:body>${wordParagraph('The quay.')}<w:p><w:r><w:commentReference w:id="1"/></w:r></w:p></w:body></w:document>`
    const file = makeZip([
      { name: '[Content_Types].xml', content: '<Types/>' },
      { name: '_rels/.rels', content: relations([{ id: 'r', kind: 'officeDocument', target: '/WORD/Document2.xml' }]) },
      { name: 'word/document2.xml', content: document },
      {
        name: 'word/_rels/document2.xml.rels',
        content: relations([{ id: 'c', kind: 'comments', target: '/word/Remarks.xml' }]),
      },
      {
        name: 'word/remarks.xml',
        content: '<w:comments><w:comment w:id="1"><w:p><w:r><w:t>Long?</w:t></w:r></w:p></w:comment></w:comments>',
      },
    ])
    const { text, mediaType } = await read('a.bin', file)
    expect([text, mediaType]).toEqual(['The quay.\n\nComment: Long?', `${TYPES}.wordprocessingml.document`])
  })

  it('become contained documents wherever relations of embedded files lead, but not the workbooks of charts', async () => {
    const inner = makeXlsx([{ name: 'Sheet1', rows: row(1, ['inner', 5]) }])
    const file = makeDocx(wordParagraph('Words.'), [
      {
        name: 'word/_rels/document.xml.rels',
        content: relations([
          { id: 'a', kind: 'package', target: 'objects/book.xlsx' },
          { id: 'b', kind: 'chart', target: 'drawn/one.xml' },
        ]),
      },
      { name: 'word/objects/book.xlsx', content: inner },
      { name: 'word/drawn/one.xml', content: '<c:chart/>' },
      {
        name: 'word/drawn/_rels/one.xml.rels',
        content: relations([{ id: 'w', kind: 'package', target: 'values.xlsx' }]),
      },
      { name: 'word/drawn/values.xlsx', content: inner },
    ])
    expect(Object.keys((await readInside('a.docx', file)).files)).toEqual(['book.xlsx'])
  })

  it('give the authors of comments and the properties of a presentation by relationships', async () => {
    const bytes = makePptx(
      [{ shapes: shape('Boats', 'title'), relations: [{ id: 'c', kind: 'comments', target: '../remarks.xml' }] }],
      [
        { name: 'ppt/remarks.xml', content: '<p:cmLst><p:cm authorId="3"><p:text>Small</p:text></p:cm></p:cmLst>' },
        {
          name: '_rels/.rels',
          content: `<Relationships><Relationship Id="m" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="ppt/presentation.xml"/><Relationship Id="p" Type="http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties" Target="about.xml"/></Relationships>`,
        },
        { name: 'about.xml', content: '<cp:coreProperties><dc:title>The fleet</dc:title></cp:coreProperties>' },
      ],
    )
    expect((await read('a.pptx', bytes)).title).toBe('The fleet')
  })
})
