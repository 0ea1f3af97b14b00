import { describe, expect, it } from 'vitest'
import { toComparisonKey } from '../../../src/engine/readers/implied-headings.js'
import { type MadePage, madePages } from './article-pages.js'
import { read } from './read.js'

/** The fraction of the content that is read, and the fraction of the read text that is content. */
async function judge({ html, content, around }: MadePage): Promise<{ recall: number; precision: number }> {
  const { text } = await read('page.html', html)
  const found = toComparisonKey(text)
  const length = (list: string[]): number =>
    list.reduce((sum, one) => sum + (found.includes(toComparisonKey(one)) ? toComparisonKey(one).length : 0), 0)
  const all = content.reduce((sum, one) => sum + toComparisonKey(one).length, 0)
  // A word of a menu that also occurs in the text does not count as kept.
  const menus = around.filter((one) => toComparisonKey(one).length > 12)
  return { recall: length(content) / all, precision: length(content) / (length(content) + length(menus)) }
}

describe('web pages', () => {
  // Seeds 1 to 3 were used while the rules were developed.
  it.each([11, 12, 13])(
    'keep over 97 % of their article and lose the boilerplate of their site (generated words of seed %i)',
    async (seed) => {
      const rows: { name: string; recall: number; precision: number }[] = []
      for (const page of madePages(seed)) rows.push({ name: page.name, ...(await judge(page)) })
      const mean = (of: 'recall' | 'precision'): number => rows.reduce((sum, row) => sum + row[of], 0) / rows.length
      for (const { name, recall } of rows) expect(recall, name).toBeGreaterThan(0.97)
      expect(mean('recall')).toBeGreaterThan(0.99)
      expect(mean('precision')).toBeGreaterThan(0.95)
    },
  )

  it('keep the headings of their article, and have an outline', async () => {
    for (const { name, html, content } of madePages(11)) {
      const { outline, elements } = await read('page.html', html)
      const headings = elements.filter(({ type }) => type === 'heading' || type === 'title').map(({ text }) => text)
      const wanted = [...html.matchAll(/<h[1-6][^>]*>([^<]+)</g)].flatMap(([, text = '']) =>
        content.includes(text) ? [text] : [],
      )
      expect(headings, name).toEqual(expect.arrayContaining(wanted))
      expect(outline.length, name).toBeGreaterThan(0)
    }
  })

  it('keep all of their text if they are a list of links or a table instead of an article', async () => {
    const index = `<html><body><h1>All pages</h1><p>${'Here are all pages, old and new, long and short, in the order of their numbers. '.repeat(9)}</p><ul>${Array.from({ length: 300 }, (_, at) => `<li><a href="/${at}">Page number ${at}</a></li>`).join('')}</ul></body></html>`
    expect((await read('index.html', index)).text).toContain('Page number 299')
    const rows = Array.from({ length: 300 }, (_, at) => `<tr><td>Row ${at}</td><td>${at * 3}</td></tr>`).join('')
    const table = `<html><body><p>${'Figures of the year, as they were told. '.repeat(20)}</p><table><tr><th>Row</th><th>Figure</th></tr>${rows}</table><p>Sources: the office.</p></body></html>`
    const { text } = await read('table.html', table)
    for (const part of ['Figures of the year', 'Row 299', 'Sources: the office.']) expect(text).toContain(part)
  })

  it('keep the references below their article, and lose the table of contents and the site navigation', async () => {
    const prose = `<p>${'The harbour grew for years, and boats were mended there. '.repeat(6)}</p>`
    const html = `<html><body><div class="version-menu"><a href="/1">Version one</a></div><div id="column"><div class="toc"><ul><li><a href="#a">First chapter</a></li></ul></div>
      <p><a href="/up">One level up</a></p><h1>Harbours</h1>${prose}${prose}<ul><li><a href="/s">Annals of the harbour</a></li></ul><p>By the office.</p><div class="related"><p><a href="/n">Next harbour</a></p></div><div class="cookie-banner"><p>We bake cookies.</p></div></div><div class="page with-sidebar">${prose}<p>A short line.</p></div></body></html>`
    const { text } = await read('page.html', html)
    for (const part of ['Annals of the harbour', 'By the office.', 'A short line.']) expect(text).toContain(part)
    for (const part of ['Version one', 'First chapter', 'One level up', 'Next harbour', 'We bake cookies.'])
      expect(text).not.toContain(part)
  })

  it('keep short lines before and after the paragraphs, and the author below the title', async () => {
    const prose = `<p>${'The harbour grew for years, and boats were mended there. '.repeat(6)}</p>`
    const html = `<html><body><header><h1>Harbours</h1><p class="author">Ann Miller</p></header><nav><ul><li><a href="/1">Version one</a></li></ul></nav>
      <p class="teaser">Short.</p><p>Shorter.</p><p>As short.</p><p>Still short.</p>${prose}${prose}<div class="note"><p>Mind the tide.</p></div><div class="line-block">A line<br>Another line</div>
      <div><p><a href="/n">The next harbour</a></p></div><footer><p>All rights reserved.</p></footer></body></html>`
    const { text } = await read('page.html', html)
    for (const part of ['Ann Miller', 'Short.', 'Still short.', 'Mind the tide.', 'A line', 'Another line'])
      expect(text).toContain(part)
    for (const part of ['Version one', 'The next harbour', 'All rights reserved.']) expect(text).not.toContain(part)
  })

  it('keep their text with 30,000 nested elements or 40,000 paragraphs', async () => {
    const deep = `<html><body>${'<div>'.repeat(30_000)}${'<p>Text, with commas, that goes on for a while, and on.</p>'.repeat(30)}</body></html>`
    expect((await read('deep.html', deep)).text).toContain('goes on for a while')
    const wide = `<html><body><article>${'<p>Text, with commas, that goes on, and on, for a while.</p>'.repeat(40_000)}</article></body></html>`
    expect((await read('wide.html', wide)).text.length).toBeGreaterThan(2_000_000)
  })
})
