import { describe, expect, it } from 'vitest'
import { makeDocx, makeZip, read, readFixture, wordParagraph, words } from './read.js'

describe('the reading of HTML', () => {
  it('gives title, language, headings, lists, tables and code, without scripts and styles', async () => {
    const document = await read(
      'page.html',
      `<!doctype html><html lang=fr><head><title>The &amp; Page</title><style>p{}</style><script>var x="<p>no</p>"</script></head>
       <body><h1>Top</h1><p>One<br>two<p>three &eacute;<ul><li>a<ul><li>b</ul><li>c</ul>
       <table><tr><th>K<th>V<tr><td>x<td>1</table><pre><code class="language-js">let a = 1
  b()</code></pre><h2>Next</h2>tail`,
    )
    expect([document.title, document.language, document.parser]).toEqual(['The & Page', 'fr', 'native-html'])
    expect(document.elements.map((element) => [element.type, element.text])).toEqual([
      ['heading', 'Top'],
      ['paragraph', 'One\ntwo'],
      ['paragraph', 'three é'],
      ['list', '- a\n  - b\n- c'],
      ['table', 'K | V\nx | 1'],
      ['code', 'let a = 1\n  b()'],
      ['heading', 'Next'],
      ['paragraph', 'tail'],
    ])
    expect(document.elements[5]?.metadata.language).toBe('js')
  })

  it('splits layout tables into paragraphs, and joins currency signs to their amounts', async () => {
    const layout = await read(
      'a.html',
      `<table><tr><td><table><tr><td>Nav</td></tr></table></td><td>${words(200)}<br><br>End.</td></tr></table>`,
    )
    expect(layout.elements.map((element) => element.type)).toEqual(['paragraph', 'paragraph', 'paragraph'])
    const filing = await read(
      'b.html',
      '<table><tr><td>Item</td><td></td><td></td><td>2021</td></tr><tr><td>Cash</td><td></td><td>$</td><td>5</td></tr><tr><td>Debt</td><td></td><td>(</td><td>7</td><td>)</td></tr></table>',
    )
    expect(filing.text).toBe('Item | 2021\nCash | $5\nDebt | (7)')
  })

  it('drops navigation only if the page has enough other text', async () => {
    const body = `<nav><a href=/>Home</a></nav>`
    expect((await read('a.html', `<html>${body}<p>${words(80)}</p></html>`)).text).not.toContain('Home')
    expect((await read('b.html', `<html>${body}<p>Short.</p></html>`)).text).toContain('Home')
  })

  it('reads a pre element of 100 lines as paragraphs', async () => {
    const lines = Array.from({ length: 100 }, (_, index) => (index % 5 === 4 ? '' : `line ${index} of the law`))
    const document = await read('law.html', `<html><body><pre>${lines.join('\n')}</pre>`)
    expect(document.elements.every((element) => element.type === 'paragraph')).toBe(true)
    expect(document.elements.length).toBe(20)
  })

  it('keeps the bytes of pictures in data URIs, and the links of other pictures', async () => {
    const document = await read(
      'p.html',
      '<html><p>x</p><img alt=dot src="data:image/gif;base64,R0lGODlhAQABAAAAACw="><img src="a.png"><img width=1 src="t.gif">',
    )
    expect(document.items.map((item) => [item.caption, item.asset?.contentType, item.externalUri])).toEqual([
      ['dot', 'image/gif', undefined],
      [undefined, undefined, 'a.png'],
    ])
  })

  it('keeps the header, the footer and the Windows-1252 characters of sample pages', async () => {
    expect((await readFixture('fake-html-with-footer-and-header.html')).text).toBe(
      'Header\n\nMy First Heading\n\nMy first paragraph.\n\nFooter',
    )
    expect((await readFixture('fake-html-cp1252.html')).text).toContain('CP1252-specific characters')
  })
})

describe('the reading of PDF', () => {
  it('gives text, lists and headings with page numbers', async () => {
    const memo = await readFixture('fake-memo.pdf')
    expect(memo.mediaType).toBe('application/pdf')
    expect(memo.text).toContain('A total of 3 trucks were used for 15 hours.')
    const list = await readFixture('list-item-example.pdf')
    expect(list.metadata.pageCount).toBe(2)
    expect(new Set(list.nodes.map((node) => node.pageNumber))).toEqual(new Set([1, 2]))
    expect(list.elements.some((element) => element.type === 'list')).toBe(true)
    expect(list.outline.map((node) => [node.title, node.tocSource, node.startPage])).toEqual([
      ['Module One - Introduction to Product Development and Quality Assurance', 'heading', 1],
      ['Module Three: Step 2: Design and Prototyping', 'heading', 1],
      ['Module Two: Initial Planning and Step 1: Concept Development', 'heading', 1],
    ])
  })

  it('joins hyphenated words, uses bookmarks as sections, and makes no node across two pages', async () => {
    const paper = await readFixture('layout-parser-paper-fast.pdf')
    expect(paper.title).toMatch(/^LayoutParser|layout-parser-paper-fast/)
    expect(paper.outline[0]?.tocSource).toBe('bookmark')
    expect(paper.outline[0]?.children[0]?.title).toBe('1 Introduction')
    expect(paper.text).toContain('off-the-shelf')
    const pageOf = new Map(paper.elements.map((element) => [element.id, element.pageNumber]))
    for (const node of paper.nodes) {
      expect(new Set(node.sourceElementIds.map((id) => pageOf.get(id)))).toEqual(new Set([node.pageNumber]))
    }
  })
})

describe('the reading of DOCX', () => {
  it('gives text, tables with merged cells, and page headers', async () => {
    const tables = await readFixture('docx-tables.docx')
    expect(tables.text).toContain('Table with merged cells')
    expect(tables.items.filter((item) => item.modality === 'table').length).toBeGreaterThan(0)
    const margins = await readFixture('docx-hdrftr.docx')
    expect(margins.text).toContain('Main document')
    expect(margins.elements.some((element) => element.metadata.role === 'header')).toBe(true)
    expect((await readFixture('simple.docx')).text).toContain('This is my first thought.')
    expect((await readFixture('hlink-meta.docx')).text).toContain('Five with link to foo.com introduction section.')
  })

  it('keeps embedded pictures as inline bytes', async () => {
    const document = await readFixture('contains-pictures.docx')
    const pictures = document.items.filter((item) => item.modality === 'image')
    expect(pictures.length).toBeGreaterThan(0)
    for (const picture of pictures) {
      expect(picture.asset?.contentType).toMatch(/^image\//)
      expect(picture.asset?.bytes.byteLength).toBeGreaterThan(100)
    }
  })

  it('A29: expands no entity, and reads no file that an external entity names', async () => {
    const dtd =
      '<!DOCTYPE w:document [<!ENTITY x SYSTEM "file:///etc/passwd"><!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
    const word = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    const body = `${dtd}<w:document ${word}><w:body><w:p><w:r><w:t>before &x;&b; after</w:t></w:r></w:p></w:body></w:document>`
    const outcome = await read('x.docx', makeDocx(body)).then(
      (document) => document.text,
      (error: Error) => error.message,
    )
    expect(outcome).not.toContain('root:')
    expect(outcome).not.toContain('aaaaaaaaaa')
  })

  it('recognises a Word document by its archive entries, whatever its file name', async () => {
    const document = await read('renamed.bin', makeDocx(wordParagraph('Hello there.')))
    expect(document.text).toBe('Hello there.')
    expect(document.mediaType).toContain('wordprocessingml')
  })
})

describe('CSV and TSV tables', () => {
  it('detect the delimiter and repeat the header in every node', async () => {
    const rows = Array.from({ length: 1200 }, (_, index) => `name${index};${index};"a; b"`)
    const document = await read('big.csv', ['name;number;note', ...rows].join('\n'))
    expect(document.metadata).toMatchObject({ delimiter: ';', rowCount: 1200 })
    expect(document.elements).toHaveLength(3)
    expect(document.elements.every((element) => element.text?.startsWith('name | number | note\n'))).toBe(true)
    expect(
      document.nodes.every((node) => node.text.startsWith('name | number | note\n') && node.kind === 'table'),
    ).toBe(true)
    expect(document.nodes[5]?.text).toContain('a; b')
  })

  it('give the text of sample files in UTF-8 and UTF-16, with tabs and semicolons', async () => {
    expect((await readFixture('stanley-cups-utf-16.csv')).text).toContain('Maple Leafs | TOR | 13')
    expect((await readFixture('stanley-cups.tsv')).text).toContain('Maple Leafs | TOR | 13')
    expect((await readFixture('semicolon-delimited.csv')).text).toContain('dolore')
  })

  it('keep the text of a row with an unclosed quote', async () => {
    const document = await read('broken.csv', 'a,b\n1,"unclosed\n2,x\n')
    expect(document.text).toContain('unclosed')
  })
})

describe('the reading of structured text', () => {
  it('uses the keys of JSON as sections', async () => {
    const document = await read(
      'c.json',
      JSON.stringify({ name: 'x', server: { port: 80, hosts: ['a', 'b'] }, list: [{ id: 1 }, { id: 2 }] }),
    )
    expect(document.contentType).toBe('structured')
    expect(document.outline.map((node) => [node.title, node.tocSource])).toEqual([
      ['c', 'document'],
      ['server', 'key'],
      ['list', 'key'],
    ])
    expect(document.text).toBe('name: x\n\nserver\n\nport: 80\nhosts:\n  - a\n  - b\n\nlist\n\nid: 1\n\nid: 2')
  })

  it('falls back to plain text with a warning for JSON that is invalid or nested too deeply', async () => {
    const document = await read('bad.json', '{"a": "needle", ')
    expect(document.text).toContain('needle')
    expect(document.metadata.warnings).toEqual(['not valid JSON; read as text'])
    const deep = await read('deep.json', `${'['.repeat(50_000)}1${']'.repeat(50_000)}`)
    expect(deep.metadata.warnings).toEqual(['nested too deeply; read as text'])
  })

  it('gives the text of an NDJSON file', async () => {
    const document = await readFixture('simple.ndjson')
    expect(document.mediaType).toBe('application/x-ndjson')
    expect(document.text).toContain('These are a few of my favorite things:')
  })

  it('keeps the comments of YAML, and opens a section for a key with a list', async () => {
    const document = await read('c.yaml', '# top\nname: x\n\n# the ports\nports:\n  - 80 # web\n')
    expect(document.outline.map((node) => node.title)).toEqual(['c', 'ports'])
    expect(document.text.startsWith('# top\nname: x')).toBe(true)
    expect(document.text).toContain('# the ports\nports:\n  - 80 # web')
  })

  it('gives element names and text of XML, joins inline markup, and expands no entities', async () => {
    expect((await readFixture('factbook.xml')).text).toContain('name: Trinidad & Tobado\ncapital: Port of Spain')
    const mixed = await read(
      'd.xml',
      '<?xml version="1.0"?><doc><p id="7">some <b>bold</b> text</p><q><![CDATA[a < b]]></q></doc>',
    )
    expect(mixed.text).toBe('p: some bold text\np id: 7\n\nq: a < b')
    const bomb = '<?xml version="1.0"?><!DOCTYPE d [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><d><t>x &b; y</t></d>'
    expect((await read('b.xml', bomb)).text).not.toContain('aaaa')
  })
})

describe('the reading of text files', () => {
  it('splits plain text at blank lines, and detects headings such as CHAPTER I', async () => {
    const document = await read('book.txt', 'CHAPTER I\n\nWell, Prince.\nSo it is.\n\nPART TWO\n\nTitle\n=====\nmore\n')
    expect(document.elements.map((element) => [element.type, element.text])).toEqual([
      ['title', 'CHAPTER I'],
      ['paragraph', 'Well, Prince.\nSo it is.'],
      ['heading', 'PART TWO'],
      ['heading', 'Title'],
      ['paragraph', 'more'],
    ])
  })

  it('splits source code at declarations', async () => {
    const functions = Array.from({ length: 30 }, (_, index) => `export function f${index}() {\n  return ${index}\n}\n`)
    const document = await read('many.ts', functions.join('\n'))
    expect(document.mediaType).toBe('text/x-typescript')
    expect(document.elements.length).toBeGreaterThan(2)
    expect(document.elements.every((element) => element.type === 'code' && element.text?.startsWith('export'))).toBe(
      true,
    )
    expect(document.nodes.every((node) => node.kind === 'code')).toBe(true)
    expect(document.elements[0]?.metadata.language).toBe('typescript')
  })

  it('gives headings and code of reStructuredText and Org', async () => {
    for (const name of ['README.rst', 'README.org']) {
      const document = await readFixture(name)
      expect(document.title).toBe('Example Docs')
      expect(document.outline[0]?.children.map((node) => node.title)).toEqual(['XBRL 10-K'])
      expect(document.elements.some((element) => element.type === 'code' && element.text?.includes('curl'))).toBe(true)
      expect(document.text).toContain('example-10k.html - A 10-K SEC filing')
    }
  })
})

describe('the reading of e-mail', () => {
  it('gives the subject as title, the sender as text, and only the plain version of the message', async () => {
    const family = await readFixture('family-day.eml')
    expect(family.title).toBe('Family Day')
    expect(family.text).toContain('From: Mallori Harrell <mallori@unstructured.io>')
    expect(family.text.split('There will be face painting')).toHaveLength(2)
    expect((await readFixture('mime-different-plain-html.eml')).text).toContain('This is the text/plain part.')
  })

  it('decodes encoded words of headers, quoted-printable, base64 and charsets', async () => {
    const source = [
      'From: =?iso-8859-1?Q?Andr=E9?= <a@b.c>',
      'Subject: =?utf-8?B?R3LDvMOfZQ==?=',
      ' =?utf-8?Q?_aus_K=C3=B6ln?=',
      'Content-Type: multipart/mixed; boundary="x"',
      '',
      'preamble',
      '--x',
      'Content-Type: text/plain; charset=iso-8859-1',
      'Content-Transfer-Encoding: quoted-printable',
      '',
      'Sch=F6ne Gr=FC=',
      '=DFe',
      '--x',
      'Content-Type: text/csv; name="list.csv"',
      'Content-Disposition: attachment',
      'Content-Transfer-Encoding: base64',
      '',
      Buffer.from('a,b').toString('base64'),
      '--x--',
    ].join('\r\n')
    const document = await read('m.eml', source)
    expect(document.title).toBe('Grüße aus Köln')
    expect(document.text).toContain('From: André <a@b.c>')
    expect(document.text).toContain('Schöne Grüße')
    expect(document.text.endsWith('Attachment: list.csv')).toBe(true)
  })

  it('continues a part after lines that only begin with the boundary, and ends parts at real boundaries', async () => {
    const source = [
      'Content-Type: multipart/mixed; boundary="x"',
      '',
      '--xylophone, says the preamble',
      '--x \t',
      '',
      'Signed',
      '--x-ray department',
      '--x1',
      'the rest',
      '--x',
      'Content-Type: multipart/mixed; boundary="x1"',
      '',
      '--x1',
      '',
      'inner',
      '--x1--',
      '--x',
      '',
      'last',
      '--x--',
      'epilogue',
    ].join('\r\n')
    const { text } = await read('m.eml', source)
    expect(text).toBe('Signed\n--x-ray department\n--x1\nthe rest\n\ninner\n\nlast')
  })

  it.each([
    ["filename*=utf-8'en'gr%C3%BCn%20%26%20blau.pdf", 'grün & blau.pdf'],
    ['filename*=iso-8859-1\'\'caf%E9.pdf; filename="cafe.pdf"', 'café.pdf'],
    ["filename*1*=%9Fe.pdf; filename*0*=utf-8''Gr%C3%BC%C3", 'Grüße.pdf'],
    ['filename*0="Annual "; filename*1="Report"; filename*2=.pdf', 'Annual Report.pdf'],
    ['filename*0*=utf-8\'\'a%20; filename*1="b; c%20.pdf"', 'a b; c%20.pdf'],
    ['filename="a \\"b\\"; filename=c.pdf"', 'a "b"; filename=c.pdf'],
    ['filename=plain.pdf (as it was sent)', 'plain.pdf'],
    ["filename*=no-such-charset''gr%C3%BCn.pdf", 'grün.pdf'],
    ['filename="=?utf-8?B?R3LDvMOfZS5wZGY=?="', 'Grüße.pdf'],
  ])('gives the name of an attachment from %s', async (parameter, name) => {
    const type = `Content-Type: application/pdf\r\nContent-Disposition: attachment;\r\n ${parameter.replaceAll('; ', ';\r\n ')}`
    expect((await read('m.eml', `From: a@b.c\r\n${type}\r\n\r\nx`)).text).toBe(`From: a@b.c\n\nAttachment: ${name}`)
  })

  it('reads types with comments, digests, base64 messages, and characters split between encoded words', async () => {
    const html = 'Content-Type: Text/HTML (as ever); charset="utf-8"\r\n\r\n<p>one <b>two</b></p>'
    expect((await read('m.eml', `From: a@b.c\r\n${html}`)).text).toBe('From: a@b.c\n\none two')
    const digest = 'Content-Type: multipart/digest; boundary=x\r\n\r\n--x\r\n\r\nSubject: inner\r\n\r\nwords\r\n--x--'
    expect((await read('m.eml', digest)).text).toBe('Subject: inner\n\nwords')
    const packed = Buffer.from('Subject: inner\r\n\r\nwords').toString('base64')
    const message = `Content-Type: message/rfc822\r\nContent-Transfer-Encoding: base64\r\n\r\n${packed}`
    expect((await read('m.eml', message)).text).toBe('Subject: inner\n\nwords')
    const subject = 'Subject: =?utf-8?B?R3LDvA==?= =?UTF-8?Q?=C3?=\r\n =?utf-8?q?=9Fe?= =?x-none?q?a?= b'
    expect((await read('m.eml', `${subject}\r\n\r\nx`)).title).toBe('Grüße=?x-none?q?a?= b')
  })
})

describe('the detection of type and encoding', () => {
  it('finds the media type by content, and for plain text by file name or declared type', async () => {
    expect((await read('page.txt', '<!doctype html><p>hi')).mediaType).toBe('text/html')
    expect((await read('data.txt', '{"a": [1, 2]}')).mediaType).toBe('application/json')
    expect((await read('note', 'plain', { declaredType: 'text/markdown; charset=utf-8' })).mediaType).toBe(
      'text/markdown',
    )
    expect((await read('note.md', 'x', { declaredType: 'application/pdf' })).mediaType).toBe('text/markdown')
    expect((await read('page.md', '<div align="center">\n\n# T\n</div>')).mediaType).toBe('text/markdown')
    expect((await read('archive.docx', 'just text')).mediaType).toBe('text/plain')
    expect((await read('a.txt', makeZip([{ name: 'x', content: 'y' }]))).mediaType).toBe('application/zip')
  })

  it('decodes text in UTF-8, UTF-16, Latin-1 and Windows-1251', async () => {
    const text = 'Grüße aus Köln, wo es schön ist und viele Häuser stehen.'
    const wide = Buffer.from(text, 'utf16le')
    expect((await read('a.txt', Buffer.concat([Buffer.from([0xff, 0xfe]), wide]))).text).toBe(text)
    expect((await read('b.txt', wide)).text).toBe(text)
    expect((await read('c.txt', Buffer.from(wide).swap16())).text).toBe(text)
    expect((await read('d.txt', Buffer.from(text, 'latin1'))).text).toBe(text)
    expect((await read('e.txt', Buffer.from(`\ufeff${text}`))).text).toBe(text)
    expect((await readFixture('fake-text-utf-16.txt')).text).toContain('Dogs are the best')
    const russian = Buffer.from([
      0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2, 0x2c, 0x20, 0xea, 0xe0, 0xea, 0x20, 0xe4, 0xe5, 0xeb, 0xe0, 0x3f, 0x20, 0xcf,
      0xf0, 0xe8, 0xe2, 0xe5, 0xf2, 0x20, 0xe2, 0xf1, 0xe5, 0xec,
    ])
    expect((await read('f.txt', russian)).text).toContain('Привет')
  })

  it('A45: gives text without NUL and without half a character', async () => {
    const document = await read('a.json', '{"a": "x\\ud800y\\u0000z"}')
    expect(document.text).toBe('a: x\ufffdy\ufffdz')
    expect((await read('cut.txt', Buffer.from('Straße für alle, Größe').subarray(0, -2))).text).toContain(
      'Straße für alle',
    )
  })
})
