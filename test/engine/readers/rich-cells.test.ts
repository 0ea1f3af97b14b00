import { describe, expect, it } from 'vitest'
import { read } from './read.js'

const row = (...cells: string[]) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`
const rows = row('Anchor', 'iron', '7') + row('Rope', 'hemp', '40')

describe('a table of a page', () => {
  it.each([
    ['a list', '<ul><li>one</li><li>two</li></ul>', '- one - two'],
    ['a heading', '<h4>Sails</h4>big', 'Sails big'],
    ['code', '<pre>a = 1</pre>', 'a = 1'],
    ['another table', `<table>${row('big', '3')}${row('small', '5')}</table>`, 'big 3 small 5'],
    ['several paragraphs', '<p>big</p><p>small</p>', 'big small'],
  ])('stays a table if a cell contains %s', async (_, cell, text) => {
    const { elements } = await read('a.html', `<table>${rows}${row('Sail', cell, '2')}</table>`)
    expect(elements.map(({ type }) => type)).toEqual(['table'])
    expect(elements[0]?.text?.split('\n')).toEqual(['Anchor | iron | 7', 'Rope | hemp | 40', `Sail | ${text} | 2`])
  })

  it('with headers stays a table if most cells contain headings', async () => {
    const { elements } = await read(
      'a.html',
      `<table><tr><th>Name</th><th>About</th></tr>${row('<h3>Anchor</h3>', '<h3>Iron</h3>')}</table>`,
    )
    expect(elements.map(({ type }) => type)).toEqual(['table'])
  })

  it('counts as layout if ARIA calls it so, or if most of its text is in cells with headings or long texts', async () => {
    const typesOf = async (table: string) => (await read('a.html', table)).elements.map(({ type }) => type)
    expect(await typesOf(`<table role="presentation">${rows}</table>`)).not.toContain('table')
    expect(
      await typesOf(`<table>${row('<h3>Anchors</h3>of iron', '<h3>Ropes</h3>of hemp', 'x')}</table>`),
    ).not.toContain('table')
    expect(await typesOf(`<table>${row('Menu', `<p>${'Words of a page. '.repeat(90)}</p>`)}</table>`)).not.toContain(
      'table',
    )
  })
})

describe('MathML of a page', () => {
  const math =
    '<math><semantics><mrow><mi>E</mi><mo>=</mo><mi>m</mi></mrow><annotation encoding="application/x-tex">E=m</annotation></semantics></math>'

  it.each([
    ['with annotations', math],
    [
      'of KaTeX',
      `<span class="katex"><span class="katex-mathml">${math}</span><span class="katex-html" aria-hidden="true">E=m</span></span>`,
    ],
    [
      'of MathJax',
      `<span class="MathJax"><nobr aria-hidden="true">E=m</nobr><span class="MJX_Assistive_MathML">${math}</span></span>`,
    ],
    ['with a picture of it', `${math}<img aria-hidden="true" alt="E=m">`],
  ])('%s is in the text once', async (_, formula) => {
    expect((await read('a.html', `<p>Then ${formula} holds.</p>`)).text).toBe('Then E=m holds.')
  })

  it('keeps a formula of KaTeX that has no MathML', async () => {
    const html = '<p>Then <span class="katex"><span class="katex-html" aria-hidden="true">E=m</span></span> holds.</p>'
    expect((await read('a.html', html)).text).toBe('Then E=m holds.')
  })
})
