import { describe, expect, it } from 'vitest'
import { failureOf, read } from './read.js'

const texts = ({ elements }: Awaited<ReturnType<typeof read>>) => elements.map(({ text }) => text)

describe('the reading of rare features of text formats', () => {
  it('gives footnotes, citations, and quotes after an empty comment of reStructuredText', async () => {
    const source =
      'One [1]_ boat.\n\n..\n\n   Quoted words.\n\n.. [1] A note\n   of two lines.\n.. [Kay] A book.\n\n.. a remark\n   that is hidden\n'
    expect(texts(await read('a.rst', source))).toEqual([
      expect.stringContaining('One'),
      'Quoted words.',
      '[1] A note of two lines.',
      '[Kay] A book.',
    ])
  })

  it('gives captions and authors of Org', async () => {
    const document = await read('a.org', '#+title: Boats\n#+author: Ann\n\n#+caption: The quay\n[[file:quay.png]]\n')
    expect(document.text).toContain('The quay')
    expect(document.metadata.authors).toEqual(['Ann'])
  })

  it('gives chapters, verses and authors of FictionBook, without embedded pictures', async () => {
    const source =
      '<?xml version="1.0"?><FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0"><description><title-info><author><first-name>Ann</first-name><last-name>Lee</last-name></author><book-title>Boats</book-title><lang>en</lang></title-info></description>' +
      '<body><section><title><p>Chapter one</p></title><p>It sails.</p><poem><stanza><v>A verse</v></stanza></poem></section></body><binary id="a">AAAABBBB</binary></FictionBook>'
    const document = await read('a.fb2', source)
    expect([document.title, document.metadata.authors]).toEqual(['Boats', ['Ann Lee']])
    expect(texts(document)).toEqual(expect.arrayContaining(['It sails.', 'A verse']))
    expect(document.elements.find(({ text }) => text === 'It sails.')?.sectionPath).toContain('Chapter one')
    expect(document.text).not.toContain('AAAA')
  })

  it('separates words at line breaks of TEI', async () => {
    const source =
      '<?xml version="1.0"?><TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body><p>one<lb/>two</p></body></text></TEI>'
    expect((await read('a.xml', source)).text).toMatch(/one\s+two/)
  })
})

describe('detection of the format by content', () => {
  const mail =
    'From: Ann <a@example.org>\nTo: b@example.org\nSubject: Boats\nDate: Tue, 05 Mar 2024 10:00:00 +0000\nMIME-Version: 1.0\nContent-Type: text/plain\n\nIt sails.\n'

  it('finds a mail saved as text, and a macOS mail (EMLX), whose frame is dropped', async () => {
    expect((await read('saved.txt', mail)).mediaType).toBe('message/rfc822')
    const framed = await read('1.emlx', `${mail.length}      \n${mail}<?xml version="1.0"?><plist><dict/></plist>`)
    expect([framed.mediaType, framed.title]).toEqual(['message/rfc822', 'Boats'])
    expect(framed.text).toContain('It sails.')
    expect(framed.text).not.toContain('plist')
  })

  it('finds a tab-separated table in a file with the extension of a workbook', async () => {
    const document = await read('export.xls', 'Item\tCount\nNuts\t5\n')
    expect(document.mediaType).toBe('text/tab-separated-values')
    expect(document.text).toContain('Nuts | 5')
  })

  it.each([
    ['a.jp2', Buffer.concat([Buffer.from('\0\0\0\x0cjP  \r\n\x87\n', 'latin1'), Buffer.alloc(60)]), 'a picture'],
    ['a.ico', Buffer.concat([Buffer.from([0, 0, 1, 0, 1, 0]), Buffer.alloc(60)]), 'a picture'],
    ['a.ppm', Buffer.concat([Buffer.from('P6\n4 4\n255\n'), Buffer.alloc(48)]), 'a picture'],
    ['a.djvu', Buffer.concat([Buffer.from('AT&TFORM'), Buffer.alloc(60)]), 'a DjVu document'],
    ['a.one', Buffer.from('e4525c7b8cd8a74daeb15378d02996d300000000', 'hex'), 'a section of OneNote'],
    ['a.mobi', Buffer.concat([Buffer.alloc(60), Buffer.from('BOOKMOBI'), Buffer.alloc(60)]), 'an e-book'],
  ])('rejects %s and names its format', async (name, bytes, kind) => {
    const { code, message } = await failureOf(read(name, bytes))
    expect([code, message]).toEqual(['unsupported-type', expect.stringContaining(`${name} is ${kind}`)])
  })
})
