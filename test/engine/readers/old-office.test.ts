import { describe, expect, it } from 'vitest'
import { relations } from './office.js'
import { compound, makeDoc, makePpt, summary } from './old-office.js'
import { failureOf, makeZip, read } from './read.js'

describe('Word 97 to 2003 documents', () => {
  it('give headings by style, lists with levels, tables with heads, and metadata', async () => {
    const bytes = makeDoc(
      [
        { text: 'Report', style: 3 },
        { text: 'Results', style: 1 },
        { text: 'It was \u0013HYPERLINK "http://x"\u0014good\u0015\u00a0and\tnew.' },
        { text: 'one', item: 0 },
        { text: 'inner', item: 1 },
        { text: 'Name', mark: 'cell' },
        { text: 'Value', mark: 'cell' },
        { text: '', mark: 'row' },
        { text: 'Tin', mark: 'cell' },
        { text: '4.5', mark: 'cell' },
        { text: '', mark: 'row' },
        { text: 'Outlook', style: 2 },
        { text: 'Bright.' },
      ],
      { streams: { '\u0005SummaryInformation': summary('Größe', 'Ann') } },
    )
    const document = await read('old.doc', bytes)
    expect([document.mediaType, document.title, document.metadata]).toEqual([
      'application/msword',
      'Größe',
      { author: 'Ann', authors: ['Ann'] },
    ])
    expect(document.elements.map((one) => [one.type, one.metadata.level, one.text])).toEqual([
      ['heading', 1, 'Report'],
      ['heading', 1, 'Results'],
      ['paragraph', undefined, 'It was good and new.'],
      ['list', undefined, '- one\n  - inner'],
      ['table', undefined, 'Name | Value\nTin | 4.5'],
      ['heading', 2, 'Outlook'],
      ['paragraph', undefined, 'Bright.'],
    ])
    expect(document.elements[4]?.metadata.headerRows).toBe(1)
    expect(document.elements[6]?.sectionPath).toEqual(['Results', 'Outlook'])
  })

  it('keep notes after the paragraph that refers to them, headers and footers once, and no deleted text', async () => {
    const bytes = makeDoc(
      [{ text: 'First\u0002 words.' }, { text: 'Gone.', deleted: true }, { text: 'Last\u0002 words.' }],
      { notes: ['note of the first', 'note of the last'], header: 'Top of page', footer: 'Page foot' },
    )
    const document = await read('old.doc', bytes)
    expect(document.elements.map((one) => [one.text, one.metadata.role])).toEqual([
      ['First words.', undefined],
      ['note of the first', 'footnote'],
      ['Last words.', undefined],
      ['note of the last', 'footnote'],
      ['Top of page', 'header'],
      ['Page foot', 'footer'],
    ])
  })

  it('fail as encrypted if they have a password', async () => {
    const file = compound({ WordDocument: Buffer.concat([Buffer.from([0xec, 0xa5]), Buffer.alloc(600, 0xff)]) })
    expect(await failureOf(read('locked.doc', file))).toEqual({
      code: 'encrypted',
      message: 'locked.doc is protected by a password',
    })
  })
})

describe('PowerPoint 97 to 2003 presentations', () => {
  it('give slides in presentation order with titles, lists, tables and notes', async () => {
    const bytes = makePpt([
      { title: 'Welcome', body: 'All words' },
      { title: 'Plan', body: 'first\n>deeper\nlast', notes: 'say hello' },
      {
        title: 'Numbers',
        table: [
          ['Metal', 'Price'],
          ['Tin', '4.5'],
        ],
      },
    ])
    const document = await read('old.ppt', bytes)
    expect(document.metadata).toEqual({ pageCount: 3 })
    expect(document.elements.map((one) => [one.pageNumber, one.type, one.text])).toEqual([
      [1, 'title', 'Welcome'],
      [1, 'paragraph', 'All words'],
      [2, 'heading', 'Plan'],
      [2, 'list', '- first\n  - deeper\n- last'],
      [2, 'paragraph', 'say hello'],
      [3, 'heading', 'Numbers'],
      [3, 'table', 'Metal | Price\nTin | 4.5'],
    ])
    expect(document.elements[4]?.metadata.role).toBe('notes')
  })

  it('fail as encrypted if they have a password', async () => {
    expect((await failureOf(read('a.ppt', makePpt([{ title: 'x' }], { locked: true })))).code).toBe('encrypted')
  })
})

describe('Visio drawings', () => {
  it('give pages with the texts of their shapes', async () => {
    const file = makeZip([
      { name: 'visio/document.xml', content: '<VisioDocument/>' },
      { name: 'visio/pages/pages.xml', content: '<Pages><Page Name="Network"><Rel r:id="r1"/></Page></Pages>' },
      {
        name: 'visio/pages/_rels/pages.xml.rels',
        content: relations([{ id: 'r1', kind: 'page', target: 'page1.xml' }]),
      },
      {
        name: 'visio/pages/page1.xml',
        content:
          '<PageContents><Shapes><Shape><Text>Router <cp/>A</Text></Shape><Shape><Text>Switch</Text></Shape></Shapes></PageContents>',
      },
    ])
    const document = await read('net.vsdx', file)
    expect(document.elements.map((one) => [one.pageNumber, one.sectionPath, one.text])).toEqual([
      [1, ['Network'], 'Network'],
      [1, ['Network'], '- Router A\n- Switch'],
    ])
  })
})

describe('the detection of unsupported formats', () => {
  it.each([
    [
      'a.pub',
      compound({ 'Quill/QuillSub/CONTENTS': Buffer.from('x'), Contents: Buffer.from('y') }),
      'a Publisher document',
    ],
    ['a.vsd', compound({ VisioDocument: Buffer.from('x') }), 'a Visio drawing'],
    ['a.dwg', Buffer.from('AC1032\0\0\0\0\0'), 'an AutoCAD drawing'],
    ['a.exe', Buffer.from('MZ\x90\0\x03\0\0\0', 'latin1'), 'a program'],
    ['a.psd', Buffer.from('8BPS\0\x01\0\0', 'latin1'), 'a Photoshop picture'],
    ['a.pst', Buffer.from('!BDN\0\0\0\0'), 'an Outlook mailbox (PST)'],
    ['a.key', makeZip([{ name: 'Index/Document.iwa', content: 'x' }]), 'a document of Pages, Numbers or Keynote'],
  ])('names the format of %s in the failure', async (name, bytes, kind) => {
    const failure = await failureOf(read(name, bytes))
    expect(failure.code).toBe('unsupported-type')
    expect(failure.message).toContain(`${name} is ${kind} (`)
  })

  it('reads a text that begins with the signature of an unsupported format, such as OTTO or ORC', async () => {
    expect((await read('names.txt', 'OTTO was here.\n')).text).toBe('OTTO was here.')
    expect((await read('tables', 'ORC is a format of tables.')).mediaType).toBe('text/plain')
  })

  it('finds no unsupported format in a workbook that embeds a Word document', async () => {
    const book = compound({ Book: Buffer.from('x'), 'MBD0001/WordDocument': Buffer.from('y') })
    const { mediaType, text } = await read('a.xls', book)
    expect([mediaType, text]).toEqual(['application/vnd.ms-excel', 'Embedded file: Object 1.doc'])
  })
})
