import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readOdfText } from '../../../src/engine/readers/office/odf-text.js'
import { makeOdf } from './office.js'
import { failureOf, makeZip, read, readFixture } from './read.js'

const seen = (document: Awaited<ReturnType<typeof read>>): unknown[] =>
  document.elements.map((element) => [element.type, element.text])

const text = (body: string): string => `<office:text>${body}</office:text>`

describe('OpenDocument texts', () => {
  it('give headings with levels, nested lists, tables, and notes after their paragraphs', async () => {
    const styles =
      '<style:style style:name="P1" style:parent-style-name="Title"/><text:list-style style:name="L1"><text:list-level-style-number text:level="1"/></text:list-style>'
    const body = `<text:sequence-decls><text:p>no</text:p></text:sequence-decls>
      <text:p text:style-name="P1">The  whole</text:p>
      <text:table-of-content><text:index-body><text:p>One 1</text:p></text:index-body></text:table-of-content>
      <text:h text:outline-level="1">One</text:h>
      <text:p>A<text:s text:c="3"/>word<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>A note.</text:p></text:note-body></text:note> and &lt;more&gt;.<office:annotation><dc:creator>Jo</dc:creator><text:p>Why?</text:p></office:annotation></text:p>
      <text:h text:outline-level="2">Deeper</text:h>
      <text:list text:style-name="L1"><text:list-item><text:p>a</text:p><text:list><text:list-item><text:p>b</text:p></text:list-item></text:list></text:list-item><text:list-item><text:p>c</text:p></text:list-item></text:list>
      <text:list><text:list-item><text:p>dot</text:p></text:list-item></text:list>
      <table:table><table:table-header-rows><table:table-row><table:table-cell><text:p>K</text:p></table:table-cell><table:table-cell><text:p>V</text:p></table:table-cell></table:table-row></table:table-header-rows><table:table-row><table:table-cell table:number-columns-spanned="2"><text:p>both</text:p></table:table-cell><table:covered-table-cell/></table:table-row><table:table-row><table:table-cell><text:p>x</text:p></table:table-cell><table:table-cell><text:p>1</text:p></table:table-cell></table:table-row></table:table>
      <text:p>before<draw:frame><draw:text-box><text:p>boxed</text:p></draw:text-box></draw:frame> after</text:p>`
    const document = await read(
      'letter.odt',
      makeOdf('text', text(body), styles, [
        { name: 'meta.xml', content: '<office:meta><dc:title>Letter of May</dc:title></office:meta>' },
      ]),
    )
    expect(document.mediaType).toBe('application/vnd.oasis.opendocument.text')
    expect(document.title).toBe('Letter of May')
    expect(seen(document)).toEqual([
      ['heading', 'The whole'],
      ['heading', 'One'],
      ['paragraph', 'A word and <more>.'],
      ['paragraph', 'A note.'],
      ['paragraph', 'Comment by Jo: Why?'],
      ['heading', 'Deeper'],
      ['list', '1. a\n  1. b\n2. c'],
      ['list', '- dot'],
      ['table', 'K | V\nboth\nx | 1'],
      ['paragraph', 'before after'],
      ['paragraph', 'boxed'],
    ])
    expect(document.elements[5]?.sectionPath).toEqual(['One', 'Deeper'])
  })

  it('give the paragraphs and the table of a sample file', async () => {
    const document = await readFixture('fake.odt')
    expect(document.text).toContain('Lorem ipsum dolor sit amet.')
    expect(document.text).toContain('Leader | Sarah | Mark | Ryan')
  })

  it('fail with a password, a document type declaration or no text, and load no file from outside', async () => {
    const locked = makeZip([
      { name: 'META-INF/manifest.xml', content: '<manifest:encryption-data/>' },
      { name: 'content.xml', content: 'x' },
    ])
    expect((await failureOf(read('locked.odt', locked))).code).toBe('encrypted')
    const laughs = makeZip([
      { name: 'META-INF/manifest.xml', content: '' },
      { name: 'content.xml', content: '<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>' },
    ])
    expect((await failureOf(read('dtd.odt', laughs))).message).toContain('declares a document type')
    expect(await failureOf(read('blank.odt', makeOdf('text', text('<text:p/>'))))).toEqual({
      code: 'empty',
      message: 'blank.odt has no text',
    })
    const outside = '<text:p>Seen<draw:frame><draw:image xlink:href="file:///etc/passwd"/></draw:frame></text:p>'
    expect((await read('outside.odt', makeOdf('text', text(outside)))).text).toBe('Seen')
  })

  it('become HTML without an exception, even from random or deep markup', () => {
    const piece = fc.constantFrom(
      ...'<text:p>|</text:p>|<text:h>|</text:h>|<text:list>|</text:list>|<text:list-item>|<draw:text-box>|</draw:text-box>|<text:note-body>|</text:note-body>|<draw:frame>|</draw:frame>|<draw:page>|<table:table>|</table:table>|<table:table-cell>|x|<office:annotation>|</office:annotation>'.split(
        '|',
      ),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        for (const { html } of readOdfText(`<office:body>${pieces.join('')}`)) expect(typeof html).toBe('string')
      }),
      { numRuns: 300 },
    )
    const deep = `<office:body>${'<text:p><draw:text-box>x'.repeat(50_000)}`
    expect(readOdfText(deep).length).toBe(1)
  })
})

describe('OpenDocument presentations', () => {
  it('give slides with their numbers, and fail above the page limit', async () => {
    const page = (body: string): string => `<draw:page>${body}</draw:page>`
    const frame = (kind: string, body: string): string =>
      `<draw:frame presentation:class="${kind}"><draw:text-box><text:p>${body}</text:p></draw:text-box></draw:frame>`
    const body =
      page(frame('outline', 'Point') + frame('title', 'First')) +
      page(frame('page-number', '2') + frame('outline', 'Rest'))
    const deck = makeOdf('presentation', `<office:presentation>${body}</office:presentation>`)
    const document = await read('deck.odp', deck)
    expect(document.metadata.pageCount).toBe(2)
    expect((await failureOf(read('deck.odp', deck, { limits: { maxPages: 1 } }))).code).toBe('limit-exceeded')
    expect(document.elements.map((element) => [element.pageNumber, element.type, element.text])).toEqual([
      [1, 'title', 'First'],
      [1, 'paragraph', 'Point'],
      [2, 'paragraph', 'Rest'],
    ])
    expect(document.outline.map((node) => [node.title, node.startPage])).toEqual([
      ['First', 1],
      ['Slide 2', 2],
    ])
  })
})

describe('OpenDocument spreadsheets', () => {
  const sheet = (rows: string): string =>
    `<office:spreadsheet><table:table table:name="Stock">${rows}</table:table></office:spreadsheet>`
  const cell = (value: string, attributes = ''): string =>
    `<table:table-cell ${attributes}><text:p>${value}</text:p></table:table-cell>`
  const row = (cells: string, attributes = ''): string => `<table:table-row ${attributes}>${cells}</table:table-row>`

  it('give sheets, values, dates and merged cells', async () => {
    const rows = [
      row(cell('Zone') + cell('Day') + cell('Count')),
      row(
        cell('North', 'table:number-rows-spanned="2"') +
          cell('30.06.23', 'office:value-type="date" office:date-value="2023-06-30T00:00:00"') +
          cell(
            '1 000<office:annotation><text:p>no</text:p></office:annotation>',
            'office:value-type="float" office:value="1000"',
          ),
      ),
      row(
        `<table:covered-table-cell/>${cell('x', 'table:number-columns-repeated="2"')}`,
        'table:number-rows-repeated="2"',
      ),
    ]
    const document = await read('stock.ods', makeOdf('spreadsheet', sheet(rows.join(''))))
    expect([document.mediaType, document.parser]).toEqual([
      'application/vnd.oasis.opendocument.spreadsheet',
      'native-structured',
    ])
    expect(document.elements[1]?.text).toBe('Zone | Day | Count\nNorth | 2023-06-30 | 1 000\nNorth | x | x\n | x | x')
  })

  it('may have huge empty ranges, but fail with huge filled ranges', async () => {
    const empty = '<table:table-cell table:number-columns-repeated="16384"/>'
    const huge = row(cell('a') + empty) + row(empty, 'table:number-rows-repeated="1048575"') + row(empty + cell('b'))
    expect((await read('sparse.ods', makeOdf('spreadsheet', sheet(huge)))).text).toBe('Stock\n\na\n\nb')
    for (const attributes of ['table:number-columns-repeated="99999999999"', 'table:number-columns-repeated="16384"']) {
      const full = row(cell('a', attributes), 'table:number-rows-repeated="1048576"')
      expect((await failureOf(read('full.ods', makeOdf('spreadsheet', sheet(full))))).code).toBe('limit-exceeded')
    }
    const long = row(cell('x'.repeat(30_000)), 'table:number-rows-repeated="100000"')
    expect((await failureOf(read('long.ods', makeOdf('spreadsheet', sheet(long))))).code).toBe('limit-exceeded')
  })
})
