import { describe, expect, it } from 'vitest'
import { DEFAULT_LIMITS } from '../../../src/engine/readers/limits.js'
import { warnOfUnreadWords } from '../../../src/engine/readers/unread/unread-words.js'
import { makeOdf, makePptx, makeXlsx, row, shape } from './office.js'
import { compound, makeDoc, makePpt } from './old-office.js'
import { makeDocx, makeZip, read, wordParagraph, words } from './read.js'

const warningsOf = async (filename: string, content: string | Buffer): Promise<unknown> =>
  (await read(filename, content)).metadata.warnings

describe('the words of a file that are not in its document', () => {
  it('give a warning of a Word document with their number and the element or part that contains them', async () => {
    const body = wordParagraph(words(100))
    expect(
      await warningsOf('a.docx', makeDocx(`${body}<x:verse><x:line>four words without reader</x:line></x:verse>`)),
    ).toEqual(['4 of 104 words of the file are not in its text: x:line'])
    const part = {
      name: 'word/footnotesFuture.xml',
      content: `<w:footnotes>${wordParagraph('three lost notes')}</w:footnotes>`,
    }
    expect(await warningsOf('a.docx', makeDocx(body, [part]))).toEqual([
      '3 of 103 words of the file are not in its text: footnotes',
    ])
  })

  it('give a warning of presentations, workbooks and OpenDocument files', async () => {
    const extra = { name: 'ppt/diagrams/other.xml', content: '<dgm:x><a:t>one two three lost</a:t></dgm:x>' }
    expect(await warningsOf('a.pptx', makePptx([{ shapes: shape('titled', 'title') }], [extra]))).toEqual([
      '4 of 5 words of the file are not in its text: diagrams',
    ])
    const remarks = { name: 'xl/remarksAndComments.xml', content: '<text><t>nobody reads these</t></text>' }
    expect(
      await warningsOf('a.xlsx', makeXlsx([{ name: 'S', rows: row(1, ['kept', '7']) }], { extra: [remarks] })),
    ).toEqual(['3 of 4 words of the file are not in its text: comments'])
    const body =
      '<text:p>kept</text:p><office:settings>never shown</office:settings><x:odd>not known by readers</x:odd>'
    expect(await warningsOf('a.odt', makeOdf('text', `<office:text>${body}</office:text>`))).toEqual([
      '4 of 5 words of the file are not in its text: x:odd',
    ])
  })

  it('give no warning where there are fewer than three, or where only letters have another format', async () => {
    const run = (text: string) => `<w:r><w:t>${text}</w:t></w:r>`
    const body = `<w:p>${run('in')}${run('sepa')}${run('rable')}${run(' words')}</w:p><x:line>two words</x:line>`
    expect(await warningsOf('a.docx', makeDocx(body))).toBeUndefined()
  })

  it('give no warning for deleted text, repeated footers, numbers of slides and codes in headers of sheets', async () => {
    const footed = {
      shapes: shape('titled', 'title') + shape('four words at bottom', 'ftr') + shape('12 May of 2020', 'dt'),
    }
    expect(await warningsOf('a.pptx', makePptx([footed, footed, footed]))).toBeUndefined()
    const rows = `${row(1, ['kept', '7'])}</sheetData><headerFooter><oddHeader>&amp;L&amp;"Arial,Bold"&amp;K00FFFFkept&amp;RPage &amp;P</oddHeader></headerFooter><sheetData>`
    expect(await warningsOf('a.xlsx', makeXlsx([{ name: 'S', rows }]))).toBeUndefined()
    const deleted = '<w:p><w:del><w:r><w:delText>four words are gone</w:delText></w:r></w:del></w:p>'
    expect(await warningsOf('a.docx', makeDocx(wordParagraph('kept') + deleted))).toBeUndefined()
  })
})

describe('a text that a reader loses', () => {
  const KEPT = 'These words are in the document.'
  const LOST = 'Seven other words are lost on the way.'
  const mail = `From: a@example.com\r\nContent-Type: multipart/mixed; boundary="b"\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\n${KEPT}\r\n--b\r\nContent-Type: text/html\r\n\r\n<p>${LOST}</p>\r\n--b--\r\n`
  const files: readonly (readonly [mediaType: string, content: string])[] = [
    ...(
      'text/plain text/markdown text/x-rst text/x-org text/x-tex text/x-asciidoc text/x-mediawiki text/troff text/vtt application/x-subrip ' +
      'application/yaml application/json text/csv text/x-log text/x-ini text/x-typescript text/calendar text/vcard'
    )
      .split(' ')
      .map((mediaType) => [mediaType, `${KEPT}\n\n${LOST}\n`] as const),
    ['text/html', `<nav><p>${KEPT}</p></nav><main><p>Seven <b>ot</b>her words are lost<br>on the way.</p></main>`],
    ['message/rfc822', mail],
    ['application/xml', `<list><item>${KEPT}</item><item>${LOST}</item></list>`],
    ['application/docbook+xml', `<book><para>${KEPT}</para><para>${LOST}</para></book>`],
  ]
  const count = async (mediaType: string, content: string, text: string) =>
    await warnOfUnreadWords(
      { filename: 'a', mediaType, bytes: Buffer.from(content), text: () => content, limits: DEFAULT_LIMITS },
      { title: 'a', text, metadata: {}, elements: [], fileNames: [] },
    )

  it.each(files)(
    'gives a warning with its words in %s, and none where it is in the document',
    async (mediaType, content) => {
      expect(await count(mediaType, content, KEPT)).toMatch(/^8 of \d+ words of the file are not in its text: /)
      expect(await count(mediaType, content, `${LOST} ${KEPT}`)).toBeUndefined()
    },
  )

  it('gives a warning of an e-book and of a page of a PDF', async () => {
    const chapter = `<html><head><title>not counted here</title></head><body><p>${KEPT}</p><p>${LOST}</p></body></html>`
    const zip = makeZip([{ name: 'OPS/one.xhtml', content: chapter }])
    const book = {
      filename: 'a',
      mediaType: 'application/epub+zip',
      bytes: zip,
      text: () => '',
      limits: DEFAULT_LIMITS,
    }
    const document = { title: 'a', text: KEPT, metadata: {}, elements: [], fileNames: [] }
    expect(await warnOfUnreadWords(book, document)).toBe('8 of 14 words of the file are not in its text: text')
    const sourceTexts = [KEPT, LOST].map((text) => ({ text, construct: 'text' }))
    const pdf = { ...book, mediaType: 'application/pdf' }
    expect(await warnOfUnreadWords(pdf, { ...document, sourceTexts })).toBe(
      '8 of 14 words of the file are not in its text: text',
    )
    expect(await warnOfUnreadWords(pdf, document)).toBeUndefined()
  })

  it('gives a warning of old office files, of Rich Text Format and of a message of Outlook', async () => {
    const slide = { title: KEPT, body: LOST }
    const properties = Buffer.from(`${KEPT} ${LOST}`, 'utf16le')
    const rtf = `{\\rtf1{\\fonttbl{\\f0 Names of fonts;}}{\\*\\unknown not for any reader}${KEPT}\\par ${LOST}\\par{\\field{\\*\\fldinst CODE}{\\fldrslt K\\u246?ln K\\'f6ln}}}`
    const old: readonly (readonly [mediaType: string, bytes: Buffer])[] = [
      ['application/msword', makeDoc([{ text: KEPT }, { text: LOST }, { text: 'deleted words here', deleted: true }])],
      ['application/vnd.ms-powerpoint', makePpt([slide])],
      ['application/vnd.ms-outlook', compound({ '__substg1.0_1000001F': properties })],
      ['application/rtf', Buffer.from(rtf)],
    ]
    for (const [mediaType, bytes] of old) {
      const file = { filename: 'a', mediaType, bytes, text: () => '', limits: DEFAULT_LIMITS }
      const document = { title: 'a', metadata: {}, elements: [], fileNames: [] }
      expect(await warnOfUnreadWords(file, { ...document, text: KEPT }), mediaType).toMatch(
        /^8 of \d+ words of the file/,
      )
      expect(await warnOfUnreadWords(file, { ...document, text: `${KEPT} ${LOST}` }), mediaType).toBeUndefined()
    }
  })

  it('gives no warning where it is in the title, in the metadata, or left out by design', async () => {
    const page = {
      filename: 'a',
      mediaType: 'text/html',
      bytes: Buffer.alloc(0),
      text: () => `<p>${KEPT}</p><p>${LOST}</p>`,
      limits: DEFAULT_LIMITS,
    }
    const document = { title: 'a', text: KEPT, metadata: {}, elements: [], fileNames: [] }
    expect(await warnOfUnreadWords(page, document)).toBeDefined()
    expect(await warnOfUnreadWords(page, { ...document, title: LOST })).toBeUndefined()
    expect(await warnOfUnreadWords(page, { ...document, metadata: { summary: LOST } })).toBeUndefined()
    expect(await warnOfUnreadWords(page, { ...document, leftOut: [{ text: LOST }] })).toBeUndefined()
  })
})

it('counts hostile texts of every kind of mark without an exception', async () => {
  const marks = [
    'a',
    '<',
    '<p:ph type="dt"',
    '](',
    '{{',
    '%%',
    '<!--',
    '.. ',
    '\n \n',
    '////\n',
    '<script',
    '"',
    '\\f[',
    '<a b="',
  ]
  const types =
    'text/markdown text/x-rst text/x-org text/x-tex text/x-asciidoc text/x-mediawiki text/troff text/vtt text/html application/xml'
  for (const mark of marks)
    for (const mediaType of types.split(' ')) {
      const source = mark.repeat(100_000)
      const file = { filename: 'a', mediaType, bytes: Buffer.from(source), text: () => source, limits: DEFAULT_LIMITS }
      const document = { title: 'a', text: source, metadata: {}, elements: [], fileNames: [] }
      expect(typeof (await warnOfUnreadWords(file, document))).toMatch(/^(?:string|undefined)$/)
    }
})

describe('a mail whose alternatives differ', () => {
  it('gets a warning with the words of the alternative that is not read', async () => {
    const part = (type: string, text: string) => `--b\r\nContent-Type: text/${type}\r\n\r\n${text}\r\n`
    const mail = (html: string) =>
      `Subject: s\r\nContent-Type: multipart/alternative; boundary="b"\r\n\r\n${part('plain', 'Ask for the letter.')}${part('html', html)}--b--\r\n`
    expect(await warningsOf('a.eml', mail('<p>Ask for <b>the</b> letter.</p>'))).toBeUndefined()
    expect(await warningsOf('a.eml', mail('<p>The price rises to nine pounds.</p>'))).toEqual([
      '5 of 10 words of the file are not in its text: text/html',
    ])
  })
})

describe('a page and a text with every element that has text', () => {
  it('gets no warning in HTML, without what is not for readers', async () => {
    const inline =
      'a abbr b bdi bdo cite code data del dfn em i ins kbd label mark q s samp small span strong sub sup time u var'
    const block =
      'address article aside blockquote details dd div dl dt fieldset figure footer header hgroup h2 h6 legend li main menu ol p pre section summary ul'
    const body = [
      ...inline.split(' ').map((name) => `<p>un<${name}>bro${name}ken</${name}> in ${name}</p>`),
      ...block.split(' ').map((name) => `<${name}>block of ${name}</${name}>`),
      '<table><caption>caption of it</caption><tr><th>head<br>line<td>cell<wbr>s</table>',
      '<ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp></ruby><math><mi>x</mi><mo>=</mo><mn>42</mn></math>',
      '<script>var hidden = "words of a script"</script><style>p { color: red }</style><template>no words of this</template>',
      '<textarea>words of a form</textarea><svg><text>words of a drawing</text></svg><!-- words of a comment --><![CDATA[none]]>',
      '<p title="a > b">tail &amp; caf&eacute; &#8364;5',
    ]
    const { metadata } = await read('a.html', `<title>Named &amp; shown</title>${body.join('')}`)
    expect(metadata.warnings).toBeUndefined()
  })

  it('gets no warning in Markdown', async () => {
    const source =
      '---\ntitle: Named\ntags: [one, two]\n---\n# Head *of* all\n\nun**bro**ken [link text](https://example.org/path/to "name") and ![picture words](a/b/c.png)\n\n' +
      '- [ ] task one\n- item\n\n> quote `co de`\n\n| a | b |\n|---|---|\n| cell one | cell two |\n\n```python title=x\nprint("words in code")\n```\n\n' +
      '<div class="some names">words <b>in</b> HTML</div>\n\n<!-- words of a comment -->\n\nNote[^1] and [ref][r] &copy; <https://example.net/>\n\n[^1]: words of the note\n\n[r]: https://example.com/target "name of it"\n'
    expect((await read('a.md', source)).metadata.warnings).toBeUndefined()
  })
})
