import MarkdownIt from 'markdown-it'
import { describe, expect, it } from 'vitest'
import { getPages, getTableRows, type ReadingElement } from '../../../src/cli/document/element.js'
import { renderMarkdownParts } from '../../../src/cli/document/markdown.js'

const element = (
  type: ReadingElement['type'],
  text: string,
  metadata: Record<string, unknown> = {},
  pageNumber?: number,
) => ({
  id: 'e1',
  type,
  text,
  metadata,
  sectionPath: [],
  pageNumber,
})
const written = (...elements: ReadingElement[]) => [...renderMarkdownParts(elements)].join('')

/** The HTML of rendered Markdown: elements and their text, without the links and pictures that a page would load. */
const seen = (markdown: string) => new MarkdownIt({ html: true }).render(markdown)

describe('Markdown of a document', () => {
  it("contains no markup from the document's text", () => {
    const texts = [
      '# no heading',
      '> no quote',
      '- no list',
      '12. no list',
      '<img src=x onerror=alert(1)>',
      '<!-- no comment',
      '[no link](javascript:alert(1))',
      '![no picture](https://example.com/a.png)',
      '*no emphasis* and _none_ and **none**',
      '```\nno code',
      '~~~\nno code',
      'no heading\n===',
      'no heading\n---',
      '    no code',
      '`no code`',
      'a \\* b',
    ]
    for (const text of texts) {
      const html = seen(written(element('paragraph', text)))
      expect(html, text).toMatch(/^<p>[^<]*<\/p>\n$/)
    }
    for (const text of texts) {
      const inCell = seen(
        written(element('table', `a | b\n${text.split('\n')[0]} | 2`, { headerRows: 1, columnCount: 2 })),
      )
      expect(inCell.match(/<(?!\/?(?:table|thead|tbody|tr|th|td)>)[a-z!]/g), text).toBeNull()
    }
  })

  it('does not escape characters without a meaning', () => {
    const text = 'snake_case_names and 3 * 4, a_b; C# costs $5 [1] (see 2.) - all of it'
    expect(written(element('paragraph', text))).toBe(`${text}\n`)
  })

  it('encloses code in more backticks than it contains', () => {
    const code = 'let a = `b`\n```\n````\n# no heading'
    const html = seen(written(element('code', code, { language: 'js' })))
    expect(html).toBe(`<pre><code class="language-js">${code}\n</code></pre>\n`)
    expect(written(element('code', 'x', { language: 'a b`\n# c' }))).toBe('```\nx\n```\n')
  })

  it('contains tables with a head row, and escapes vertical bars in cells', () => {
    const table = element('table', 'a | b\n1 | x|y | z', { headerRows: 1, columnCount: 2 })
    expect(getTableRows(table)).toEqual([
      ['a', 'b'],
      ['1', 'x|y | z'],
    ])
    expect(written(table)).toBe('| a | b |\n| --- | --- |\n| 1 | x\\|y \\| z |\n')
    // The first cell is empty.
    expect(getTableRows(element('table', '| 2022 | 2021\nSales | 1 | 2', { columnCount: 3 }))).toEqual([
      ['', '2022', '2021'],
      ['Sales', '1', '2'],
    ])
    expect(written(element('table', '1 | 2', { headerRows: 0 }))).toBe('|  |  |\n| --- | --- |\n| 1 | 2 |\n')
    const cells = [
      ['a', 'b'],
      ['line\nbreak', '2'],
    ]
    expect(written(element('table', 'other', { headerRows: 1, cells }))).toContain('| line break | 2 |')
  })

  it('keeps heading levels, list markers and indents, and footnote labels', () => {
    const document = written(
      element('heading', 'Deep', { level: 9 }),
      element('list', '- a\n  - b\n1. c\nplain: d\n  ● e\n-5 degrees'),
      element('paragraph', '[^1]: A footnote.'),
    )
    expect(document).toBe('###### Deep\n\n- a\n  - b\n1. c\n- plain: d\n  - e\n- -5 degrees\n\n[^1]: A footnote.\n')
  })

  it('links pictures by path, whatever characters the path contains', () => {
    const places = new Map([['e1', 'a b>.png)\n# no heading']])
    const [text = ''] = [...renderMarkdownParts([element('image', 'a ] [picture')], { pictures: places })]
    const html = seen(text)
    expect(html).toMatch(/^<p><img src="[^"]+" alt="[^"]*"><\/p>\n$/)
  })
})

it('pages contain their elements; an element without a page number belongs to the previous page', () => {
  const elements = [element('paragraph', 'a', {}, 1), element('paragraph', 'b'), element('paragraph', 'c', {}, 3)]
  expect(getPages(elements)).toEqual([
    { pageNumber: 1, text: 'a\n\nb' },
    { pageNumber: 3, text: 'c' },
  ])
  expect(getPages([element('paragraph', 'a')])).toEqual([])
})
