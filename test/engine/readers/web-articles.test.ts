import { describe, expect, it } from 'vitest'
import { read } from './read.js'

const prose = (about: string) =>
  `The ${about} grew for years, and boats, ropes and sails were mended there by people who knew them. `.repeat(3)
const ARTICLE = [1, 2, 3, 4].map((part) => `<p>${prose(`harbour of part ${part}`)}</p>`).join('')
const TEASERS = [1, 2, 3]
  .map(
    (part) =>
      `<div class="card"><h3><a href="/${part}">Teaser ${part}</a></h3><p>${prose(`other place ${part}`)}</p></div>`,
  )
  .join('')
const COMMENTS = [1, 2, 3].map((part) => `<li class="comment"><p>${prose(`opinion ${part}`)}</p></li>`).join('')

const page = (head: string, body: string) =>
  `<html><head><title>Harbours</title>${head}</head><body>${body}</body></html>`
const DECLARED = '<meta property="og:type" content="article">'
const WITH_REST = `<div class="menu"><a href="/a">Menu</a></div><div id="story"><h1>Harbours</h1>${ARTICLE}</div>
  <div class="related">${TEASERS}</div><ol class="comments">${COMMENTS}</ol>`

describe('a page that states that it is an article', () => {
  it.each([
    ['Open Graph', DECLARED],
    ['JSON-LD', '<script type="application/ld+json">[{"@type":["NewsArticle"],"headline":"Harbours"}]</script>'],
    [
      'JSON-LD in CDATA',
      '<script type="application/ld+json"><![CDATA[{"@graph":[{"@type":"BlogPosting"}]}]]></script>',
    ],
  ])('loses teasers and comments after it (%s)', async (_, head) => {
    const { text, title } = await read('a.html', page(head, WITH_REST))
    for (const part of ['part 1', 'part 4']) expect(text).toContain(part)
    for (const part of ['Menu', 'Teaser 1', 'other place 2', 'opinion 3']) expect(text).not.toContain(part)
    expect(title).toBe('Harbours')
  })

  it('keeps its lists, tables, code and notes as elements', async () => {
    const inner = `${ARTICLE}<ul><li>Ropes and sails of the north</li><li>Anchors and chains of the south</li></ul>
      <table><tr><th>Year</th><th>Boats</th></tr><tr><td>1901</td><td>7</td></tr><tr><td>1902</td><td>9</td></tr></table>
      <pre><code class="language-js">let boats = 7</code></pre><p>Ends<a href="#fn1">1</a> here, with many words and a note below.</p><p id="fn1">1 The note of the harbour.</p>`
    const { elements } = await read(
      'a.html',
      page(DECLARED, `<div class="menu"><a href="/a">Menu</a></div><div id="story">${inner}</div>`),
    )
    const types = elements.map(({ type }) => type)
    for (const type of ['list', 'table', 'code']) expect(types).toContain(type)
    expect(elements.find(({ metadata }) => metadata.role === 'footnote')?.text).toBe('[1] The note of the harbour.')
  })

  it('ends at the element that it marks as its body', async () => {
    const body = `<div id="story"><div itemprop="articleBody">${ARTICLE}</div><div><p>${prose('author of it all')}</p></div></div>`
    const { text } = await read('a.html', page(DECLARED, body))
    expect(text).toContain('part 4')
    expect(text).not.toContain('author of it all')
  })

  it('keeps a text that is shorter than an article usually is', async () => {
    const { text } = await read(
      'a.html',
      page(DECLARED, '<div class="menu"><a href="/a">Menu</a></div><div><p>The harbour, at last, is open.</p></div>'),
    )
    expect(text).toContain('The harbour, at last, is open.')
  })

  it('keeps its text with 30,000 nested elements or 40,000 paragraphs', async () => {
    const deep = page(
      DECLARED,
      `${'<div>'.repeat(30_000)}${'<p>Text, with commas, that goes on for a while, and on.</p>'.repeat(30)}`,
    )
    expect((await read('deep.html', deep)).text).toContain('goes on for a while')
    const wide = page(DECLARED, '<p>Text, with commas, that goes on, and on, for a while.</p>'.repeat(40_000))
    expect((await read('wide.html', wide)).text.length).toBeGreaterThan(2_000_000)
  })
})

describe('a page that is no article', () => {
  const NOT_ARTICLES: Record<string, string> = {
    'a page without a statement': '',
    'a discussion': '<script type="application/ld+json">{"@type":"DiscussionForumPosting"}</script>',
    'questions and answers': '<script type="application/ld+json">{"@type":"QAPage"}</script>',
    'a product': '<meta property="og:type" content="product">',
    'a list of articles':
      '<script type="application/ld+json">{"@type":"ItemList","itemListElement":[{"@type":"NewsArticle"}]}</script>',
  }

  it.each(Object.entries(NOT_ARTICLES))('keeps the prose of all of its parts (%s)', async (_, head) => {
    const { text } = await read('a.html', page(head, WITH_REST))
    for (const part of ['part 1', 'part 4', 'other place 2', 'opinion 3']) expect(text).toContain(part)
  })
})

describe('a web page states', () => {
  const about = async (html: string) => {
    const { title, metadata } = await read('a.html', html.includes('<html') ? html : page('', html))
    return { title, author: metadata.author, date: String(metadata.datePublished ?? '').slice(0, 10) }
  }

  it.each([
    ['<a rel="author" href="/ann">By Ann Miller</a><p>Text.</p>', 'Ann Miller'],
    ['<p class="post-byline">Von Ann Miller</p><p>Text.</p>', 'Ann Miller'],
    ['<div itemprop="author"><span>Staff</span> <b itemprop="name">Ann Miller</b></div><p>Text.</p>', 'Ann Miller'],
    [`<p class="author">${'x'.repeat(200)}</p><p class="author">Ann Miller</p><p>Text.</p>`, 'Ann Miller'],
    [
      '<script type="application/ld+json">[[{"@type":"Article","author":[{"name":"Ann"},{"name":["Ben"]}]}]]</script>Text.',
      'Ann, Ben',
    ],
    [
      '<script type="application/ld+json">{"@graph":[{"@type":"Article","author":{"@id":"#a"}},{"@id":"#a","name":"Ann"}]}</script>Text.',
      'Ann',
    ],
    ['<script type="application/ld+json">{"@type":"Article","author":"Ann\n Miller"}</script>Text.', 'Ann Miller'],
  ])('its author in %s', async (html, author) => {
    expect((await about(html)).author).toBe(author)
  })

  it.each([
    ['<time class="entry-date" datetime="2020-03-05">March</time>Text.', '2020-03-05'],
    ['<span itemprop="datePublished" content="2020-03-05"></span>Text.', '2020-03-05'],
    [
      page(`${DECLARED}<link rel="canonical" href="https://a.example/2020/3/5/harbours">`, '<p>Text.</p>'),
      '2020-03-05',
    ],
    [page(DECLARED, '<time datetime="2020-03-05">March</time><p>Text.</p>'), '2020-03-05'],
    ['<time datetime="2020-03-05">The day of the fair</time>Text.', ''],
  ])('its date in %s', async (html, date) => {
    expect((await about(html)).date).toBe(date)
  })

  it.each([
    [
      '<title>Harbours - The Daily</title><meta property="og:site_name" content="The Daily">',
      '<p>Text.</p>',
      'Harbours',
    ],
    ['<title>The Daily | Harbours</title>', '<h1>Harbours</h1><p>Text.</p>', 'Harbours'],
    ['<title>Report 2024 - Draft</title>', '<h1>Summary</h1><p>Text.</p>', 'Report 2024 - Draft'],
    ['<title>Boats: Harbours</title>', '<h1>Boats: Harbours</h1><h2>Boats</h2><p>Text.</p>', 'Boats: Harbours'],
    [
      '<title>Harbours - The Daily</title><meta name="twitter:title" content="The Daily"><meta property="og:site_name" content="The Daily">',
      '<p>Text.</p>',
      'Harbours',
    ],
    [
      '<title>Harbours of the north</title><script type="application/ld+json">{"@type":"Article","name":"The Daily","headline":"Harbours"}</script>',
      '<p>Text.</p>',
      'Harbours',
    ],
  ])('its title without the name of its site in %s', async (head, body, title) => {
    expect((await about(`<html><head>${head}</head><body>${body}</body></html>`)).title).toBe(title)
  })
})

describe('images of a page', () => {
  it('have an alternative text once, and not where the title, their caption or the name of their file repeats it', async () => {
    const image = (name: string, alt: string) => `<img src="${name}.png" alt="${alt}">`
    const { elements } = await read(
      'a.html',
      page(
        '',
        `${image('a', 'A mill by the sea')}<p>Text.</p>${image('b', 'A mill by the sea')}<p>More.</p>${image('c', 'An old crane')}
        <figcaption>An old crane, drawn by Ann</figcaption><p>Text.</p>${image('d', 'IMG_1.JPG')}<p>Text.</p>${image('e', 'Harbours')}`,
      ),
    )
    const images = elements.filter(({ type }) => type === 'image')
    expect(images.map(({ text = '' }) => text)).toEqual(['A mill by the sea', '', '', '', ''])
    expect(images.map(({ metadata }) => metadata.alt)).toEqual([
      undefined,
      'A mill by the sea',
      'An old crane',
      'IMG_1.JPG',
      'Harbours',
    ])
  })

  it('have the address that a script loads later', async () => {
    const lazy =
      '<p>Text.</p><img alt="A mill" src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" data-src="mill.png"><img alt="A crane" data-srcset="crane.png 2x, big.png 3x">'
    const { items } = await read('a.html', page('', lazy))
    expect(items.flatMap(({ externalUri }) => externalUri ?? [])).toEqual(['mill.png', 'crane.png'])
  })
})
