import { describe, expect, it } from 'vitest'
import { makeEpub } from './office.js'
import { makeDocx, read, wordParagraph } from './read.js'

async function blocks(name: string, content: string | Buffer): Promise<[string, string | undefined, unknown][]> {
  const { elements } = await read(name, content)
  return elements.map(({ type, text, metadata }) => [type, text, metadata.role])
}

const page = (body: string) => `<html><body><h1>Boats</h1>${body}<p>Last words.</p></body></html>`

describe('footnotes', () => {
  it('follow their first reference once in Markdown; a note without a reference keeps its position', async () => {
    const source =
      'One[^a] and two[^b].\n\nMore[^a].\n\n- an item[^c]\n- another\n\nEnd.\n\n[^b]: second\n[^a]: first\n\n[^c]: third\n\n[^d]: nobody refers to it\n'
    expect(await blocks('a.md', source)).toEqual([
      ['paragraph', 'One[^a] and two[^b].', undefined],
      ['paragraph', '[^a]: first', 'footnote'],
      ['paragraph', '[^b]: second', 'footnote'],
      ['paragraph', 'More[^a].', undefined],
      ['list', '- an item[^c]\n- another', undefined],
      ['paragraph', '[^c]: third', 'footnote'],
      ['paragraph', 'End.', undefined],
      ['paragraph', '[^d]: nobody refers to it', undefined],
    ])
  })

  it('follow the table or the note that refers to them in Markdown', async () => {
    expect(await blocks('a.md', '|a|b|\n|-|-|\n|1[^x]|2|\n\nEnd.\n\n[^x]: see[^y]\n\n[^y]: there\n')).toEqual([
      ['table', 'a | b\n1[^x] | 2', undefined],
      ['paragraph', '[^x]: see[^y]', 'footnote'],
      ['paragraph', 'End.', undefined],
      ['paragraph', '[^y]: there', 'footnote'],
    ])
  })

  it('include all text indented below them in Markdown; code after other paragraphs stays code', async () => {
    const source =
      'One[^a].\n\nTwo.\n\n[^a]: first\n\n    second\n    line\n\n    - an item\n\n        code\n\nThree.\n\n    real code\n\n[^d]: alone\n\n    [^a]: more\n'
    expect(await blocks('a.md', source)).toEqual([
      ['paragraph', 'One[^a].', undefined],
      ['paragraph', '[^a]: first', 'footnote'],
      ['paragraph', 'second line', 'footnote'],
      ['list', '- an item\n  code', 'footnote'],
      ['paragraph', 'Two.', undefined],
      ['paragraph', 'Three.', undefined],
      ['code', 'real code', undefined],
      ['paragraph', '[^d]: alone', undefined],
      ['paragraph', '[^a]: more', undefined],
    ])
  })

  it('follow the paragraph that refers to them in Word', async () => {
    const reference = (id: number) => `<w:r><w:footnoteReference w:id="${id}"/></w:r>`
    const body = `<w:p><w:r><w:t>The boat was sold.</w:t></w:r>${reference(2)}</w:p>${wordParagraph('It was bought back.')}`
    const notes = `<w:footnotes xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:footnote w:id="2"><w:p><w:r><w:t>To the miller of Hod.</w:t></w:r></w:p></w:footnote></w:footnotes>`
    const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
    const file = makeDocx(body, [
      { name: 'word/footnotes.xml', content: notes },
      {
        name: 'word/_rels/document.xml.rels',
        content: `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="f" Type="${office}/footnotes" Target="footnotes.xml"/></Relationships>`,
      },
    ])
    expect(await blocks('a.docx', file)).toEqual([
      ['paragraph', 'The boat was sold.[1]', undefined],
      ['paragraph', '[1] To the miller of Hod.', 'footnote'],
      ['paragraph', 'It was bought back.', undefined],
    ])
  })

  const sold = (reference: string, note: string) => page(`<p>The boat was sold${reference}.</p><p>Later.</p>${note}`)
  const pages: Record<string, string> = {
    pandoc: sold(
      '<a href="#fn1" class="footnote-ref" id="fnref1" role="doc-noteref"><sup>1</sup></a>',
      '<section class="footnotes" role="doc-endnotes"><hr><ol><li id="fn1"><p>To the miller.<a href="#fnref1" role="doc-backlink">↩︎</a></p></li></ol></section>',
    ),
    Word: sold(
      '<a style="mso-footnote-id:ftn1" href="#_ftn1" name="_ftnref1"><sup>[1]</sup></a>',
      '<div><hr><div id="ftn1"><p><a href="#_ftnref1" name="_ftn1"><sup>[1]</sup></a> To the miller.</p></div></div>',
    ),
    LibreOffice: sold(
      '<a class="sdfootnoteanc" name="sdfootnote1anc" href="#sdfootnote1sym"><sup>1</sup></a>',
      '<div id="sdfootnote1"><p><a class="sdfootnotesym" name="sdfootnote1sym" href="#sdfootnote1anc">1</a> To the miller.</p></div>',
    ),
    'an e-book': sold(
      '<a epub:type="noteref" href="#n7">1</a>',
      '<aside epub:type="footnote" id="n7"><div><p>To the miller.</p></div></aside>',
    ),
    'plain paragraphs': sold('<sup><a href="#note1">1</a></sup>', '<p id="note1">1. To the miller.</p>'),
  }
  for (const [name, source] of Object.entries(pages))
    it(`follow the paragraph that refers to them in HTML in the style of ${name}`, async () => {
      const made = await blocks('a.html', source)
      expect(made.slice(1)).toEqual([
        ['paragraph', 'The boat was sold[1].', undefined],
        ['paragraph', '[1] To the miller.', 'footnote'],
        ['paragraph', 'Later.', undefined],
        ['paragraph', 'Last words.', undefined],
      ])
    })

  it('follow the table or list that refers to them in e-books, with all their paragraphs', async () => {
    const xhtml = page(
      '<table><tr><td>a<a epub:type="noteref" href="#n1">1</a></td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table><ul><li>x<a epub:type="noteref" href="#n2">2</a></li></ul><aside id="n1"><p>One.</p><p>More of it.</p></aside><aside id="n2"><p>Two.</p></aside>',
    )
    expect((await blocks('a.epub', makeEpub([{ name: 'one', xhtml }]))).slice(1)).toEqual([
      ['table', 'a[1] | b\nc | d', undefined],
      ['paragraph', '[1] One.', 'footnote'],
      ['paragraph', 'More of it.', 'footnote'],
      ['list', '- x[2]', undefined],
      ['paragraph', '[2] Two.', 'footnote'],
      ['paragraph', 'Last words.', undefined],
    ])
  })

  it('lose their back link in HTML, in whichever of their paragraphs it is', async () => {
    const back = '<a href="#r1" role="doc-backlink">↩</a>'
    const source = page(
      `<p>Sold<a href="#n1" id="r1" role="doc-noteref">1</a>.</p><section role="doc-endnotes"><ol><li id="n1"><p>First. ${back}</p><p>Second.</p><p>${back}</p></li></ol></section>`,
    )
    const notes = (await blocks('a.html', source)).filter(([, , role]) => role === 'footnote')
    expect(notes.map(([, text]) => text)).toEqual(['[1] First.', 'Second.'])
  })

  it('follow the paragraph that refers to them in e-books that keep notes in a separate file', async () => {
    const made = await blocks(
      'a.epub',
      makeEpub([
        { name: 'one', xhtml: page('<p>Sold<a epub:type="noteref" href="the%20notes.xhtml#n1">1</a>.</p>') },
        { name: 'two', xhtml: page('<p>Built<a epub:type="noteref" href="the%20notes.xhtml#n2">1</a>.</p>') },
        {
          name: 'the notes',
          xhtml:
            '<html><body><h1>Notes</h1><aside id="n1"><p>To the miller.</p><p>For ten. <a href="one.xhtml#r1">↩</a></p></aside><aside id="n2"><p>In Hod.</p></aside><aside id="n3"><p>Nobody refers to it.</p></aside></body></html>',
        },
      ]),
    )
    expect(made).toEqual([
      ['title', 'Boats', undefined],
      ['paragraph', 'Sold[1].', undefined],
      ['paragraph', '[1] To the miller.', 'footnote'],
      ['paragraph', 'For ten.', 'footnote'],
      ['paragraph', 'Last words.', undefined],
      ['heading', 'Boats', undefined],
      ['paragraph', 'Built[1].', undefined],
      ['paragraph', '[1] In Hod.', 'footnote'],
      ['paragraph', 'Last words.', undefined],
      ['heading', 'Notes', undefined],
      ['paragraph', 'Nobody refers to it.', undefined],
    ])
  })

  it('exclude the targets of other links within a page, and lose no text in broken markup', async () => {
    const contents = page('<p><a href="#fn1">The first chapter of the book</a></p><p>Text.</p><p id="fn1">Chapter.</p>')
    expect((await blocks('a.html', contents)).slice(1).map(([, text]) => text)).toEqual([
      'The first chapter of the book',
      'Text.',
      'Chapter.',
      'Last words.',
    ])
    for (const note of [
      '<aside id="fn1"><p>Held',
      '<li id="fn1">Held',
      '<td id="fn1">Held',
      '<aside id="fn1"><table><tr><td>Held</aside>',
      '<p id="fn1"></p>Held',
    ])
      expect((await read('a.html', sold('<a href="#fn1">1</a>', note))).text).toMatch(/Held/)
  })

  it('appear completely in an HTML page with 4,000 references', async () => {
    const numbers = Array.from({ length: 4000 }, (_, at) => at + 1)
    const source = page(
      numbers.map((at) => `<p>a<a href="#fn${at}">${at}</a></p>`).join('') +
        numbers.map((at) => `<div id="fn${at}"><p>n ${at}</p></div>`).join(''),
    )
    const notes = (await blocks('a.html', source)).filter(([, , role]) => role === 'footnote')
    expect(notes.map(([, text]) => text)).toEqual(numbers.map((at) => `[${at}] n ${at}`))
  })
})
