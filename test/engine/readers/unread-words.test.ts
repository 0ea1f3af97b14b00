import { describe, expect, it } from 'vitest'
import { makeOdf, makePptx, makeXlsx, row, shape } from './office.js'
import { makeDocx, read, wordParagraph, words } from './read.js'

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
