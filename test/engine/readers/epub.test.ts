import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { resolveTarget } from '../../../src/engine/readers/book/epub-package.js'
import { makeEpub } from './office.js'
import { failureOf, makeZip, read } from './read.js'

const page = (body: string): string =>
  `<?xml version="1.0"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>${body}</body></html>`

const METADATA =
  '<dc:title>The  Book</dc:title><dc:title>Second</dc:title><dc:creator>A. Writer</dc:creator><dc:language>fr</dc:language>'

describe('the reading of e-books', () => {
  it('follows the order of the spine, with title, author and language, without the table of contents', async () => {
    const book = await read(
      'book.epub',
      makeEpub(
        [
          { name: 'two', xhtml: page('<h1>Two</h1><p>Second<a id="x"/> text.</p>') },
          {
            name: 'nav',
            xhtml: page('<nav><a href="one%20a.xhtml">The one</a><a href="two.xhtml">Two</a></nav>'),
            properties: 'nav',
          },
          { name: 'one a', xhtml: page('<p>First text.</p><img src="../cat.png" alt="Cat"/>') },
        ],
        {
          metadata: METADATA,
          spine: ['nav', 'one a', 'two', 'one a', 'lost'],
          extra: [{ name: 'OEBPS/cat.png', content: Buffer.from('89504e470d0a1a0a', 'hex') }],
        },
      ),
    )
    expect([book.mediaType, book.title, book.language, book.metadata]).toEqual([
      'application/epub+zip',
      'The Book',
      'fr',
      { author: 'A. Writer', authors: ['A. Writer'], chapterCount: 2 },
    ])
    expect(book.elements.map((element) => [element.type, element.text, element.sectionPath])).toEqual([
      ['paragraph', 'First text.', ['The one']],
      ['image', 'Cat', ['The one']],
      ['heading', 'Two', ['Two']],
      ['paragraph', 'Second text.', ['Two']],
    ])
    expect(book.outline.map((node) => [node.title, node.tocSource])).toEqual([
      ['The one', 'bookmark'],
      ['Two', 'heading'],
    ])
    expect(book.items.map((item) => item.asset?.contentType)).toEqual(['image/png'])
  })

  it('takes the chapter titles of EPUB 2 from the NCX, and drops the contents page that the guide names', async () => {
    const ncx =
      '<ncx><navMap><navPoint><navLabel><text>Chapter One</text></navLabel><content src="text/one.xhtml"/><navPoint><navLabel><text>Within</text></navLabel><content src="text/one.xhtml#a"/></navPoint></navPoint></navMap></ncx>'
    const book = await read(
      'old.epub',
      makeEpub(
        [
          { name: 'toc', xhtml: page('<p>Chapter One 7</p>') },
          { name: 'one', xhtml: page('<p>Text of one.</p>') },
        ],
        {
          guide: '<opf:guide><opf:reference type="toc" href="text/toc.xhtml"/></opf:guide>',
          extra: [{ name: 'OEBPS/toc.ncx', content: ncx }],
        },
      ),
    )
    expect(book.text).toBe('Text of one.')
    expect(book.outline.map((node) => node.title)).toEqual(['Chapter One'])
  })

  it('reads the only chapter of a book whose guide names it as the table of contents', async () => {
    const book = makeEpub([{ name: 'one', xhtml: page('<p>Text of one.</p>') }], {
      guide: '<opf:guide><opf:reference type="toc" href="text/one.xhtml"/></opf:guide>',
    })
    expect((await read('only.epub', book)).text).toBe('Text of one.')
  })

  it('finds chapters whose names differ from the manifest by case only', async () => {
    const book = makeEpub([], {
      metadata:
        '<opf:x/></opf:metadata><opf:manifest><opf:item id="one" href="Text/ONE.xhtml" media-type="application/xhtml+xml"/></opf:manifest><opf:metadata>',
      spine: ['one'],
      extra: [{ name: 'OEBPS/text/one.xhtml', content: page('<p>Text of one.</p>') }],
    })
    expect((await read('case.epub', book)).text).toBe('Text of one.')
  })

  it('fails if the e-book is encrypted, has no package document or has no text', async () => {
    const locked = makeEpub([{ name: 'one', xhtml: page('<p>x</p>') }], {
      extra: [
        {
          name: 'META-INF/encryption.xml',
          content: '<enc:EncryptedData><enc:CipherReference URI="OEBPS/text/one.xhtml"/></enc:EncryptedData>',
        },
      ],
    })
    expect(await failureOf(read('locked.epub', locked))).toEqual({
      code: 'encrypted',
      message: 'locked.epub is protected against copying',
    })
    const bare = makeZip([{ name: 'META-INF/container.xml', content: '<container/>' }])
    expect((await failureOf(read('bare.epub', bare))).message).toBe(
      'bare.epub is not a readable e-book: it has no package document',
    )
    expect((await failureOf(read('void.epub', makeEpub([{ name: 'one', xhtml: page('') }])))).code).toBe('empty')
  })

  it('expands no entities and loads nothing from outside of the e-book', async () => {
    const laughs = `<!DOCTYPE html [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;"><!ENTITY x SYSTEM "file:///etc/passwd">]><html><body><p>&b; &x; &amp; &eacute;</p><img src="file:///etc/passwd.png"/><img src="../../../etc/x.png" alt="no"/></body></html>`
    const book = await read('laughs.epub', makeEpub([{ name: 'one', xhtml: laughs }]))
    expect(book.text).not.toContain('haha')
    expect(book.text).toContain('&b; &x; & é')
    expect(book.items.every((item) => item.asset === undefined)).toBe(true)
  })

  it('resolves any reference to a name in the archive without an exception', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (from, href) => {
        expect(typeof resolveTarget(from, href)).toBe('string')
      }),
    )
    expect(resolveTarget('OEBPS/book.opf', 'text/a%20b.xhtml#c')).toBe('OEBPS/text/a b.xhtml')
    expect(resolveTarget('OEBPS/book.opf', '%zz')).toBe('OEBPS/%zz')
  })
})
