import { describe, expect, it } from 'vitest'
import { read, readFixture } from './read.js'

async function blocks(source: string): Promise<[string, string][]> {
  const document = await read('note.md', source)
  return document.elements.map((element) => [element.type, element.text ?? ''])
}

describe('Markdown blocks', () => {
  it('get section paths, and the first heading becomes the title', async () => {
    const document = await read(
      'note.md',
      '# Harbour\n\nIntro.\n\n## Ships\n\nOne.\n\n### Crew\n\nTwo.\n\n## Cranes\nThree.\n',
    )
    expect(document.title).toBe('Harbour')
    expect(document.mediaType).toBe('text/markdown')
    expect(document.parser).toBe('native-markdown')
    expect(document.elements.map((element) => [element.type, element.text, element.sectionPath.join('/')])).toEqual([
      ['title', 'Harbour', 'Harbour'],
      ['paragraph', 'Intro.', 'Harbour'],
      ['heading', 'Ships', 'Harbour/Ships'],
      ['paragraph', 'One.', 'Harbour/Ships'],
      ['heading', 'Crew', 'Harbour/Ships/Crew'],
      ['paragraph', 'Two.', 'Harbour/Ships/Crew'],
      ['heading', 'Cranes', 'Harbour/Cranes'],
      ['paragraph', 'Three.', 'Harbour/Cranes'],
    ])
    expect(document.outline).toHaveLength(1)
    expect(document.outline[0]?.children.map((node) => [node.id, node.title, node.level])).toEqual([
      ['s1.1', 'Ships', 2],
      ['s1.2', 'Cranes', 2],
    ])
  })

  it('support setext headings and closing hashes, but not seven hashes', async () => {
    expect(await blocks('Top\n===\n\nSub\n---\n\n### Third ###\n\n####### no heading\n')).toEqual([
      ['title', 'Top'],
      ['heading', 'Sub'],
      ['heading', 'Third'],
      ['paragraph', '####### no heading'],
    ])
  })

  it('keep fenced and indented code unchanged, with comments and hashes', async () => {
    const source =
      'Text\n\n```py title\n# not a heading\n<!-- kept -->\n  x = 1\n```\n\n    indented();\n    more();\n\n~~~\nopen to the end'
    expect(await blocks(source)).toEqual([
      ['paragraph', 'Text'],
      ['code', '# not a heading\n<!-- kept -->\n  x = 1'],
      ['code', 'indented();\nmore();'],
      ['code', 'open to the end'],
    ])
    const document = await read('note.md', source)
    expect(document.elements[1]?.metadata.language).toBe('py')
    expect(document.items.map((item) => item.modality)).toEqual(['code', 'code', 'code'])
  })

  it('include tables with and without outer bars', async () => {
    expect(await blocks('a | b\n--|:-:\n1 | **2**\n3 | x \\| y\n\n| c |\n|---|\n| 4 |\n')).toEqual([
      ['table', 'a | b\n1 | 2\n3 | x | y'],
      ['table', 'c\n4'],
    ])
  })

  it('include a list with nesting, tasks and lazy lines as one element', async () => {
    expect(await blocks('- one\n  - two\n  still two\n- [x] done\n\n  more\n\n1. first\n2. second\n\nafter')).toEqual([
      ['list', '- one\n  - two still two\n- [x] done\n  more'],
      ['list', '1. first\n2. second'],
      ['paragraph', 'after'],
    ])
  })

  it('separate code, tables and pictures from list items, and keep the text after them', async () => {
    const source =
      '1. start\n\n   ```sh\n   run\n   ```\n\n   then ![a plan](p.png)\n2. | a | b |\n   |---|---|\n   | 1 | 2 |\n'
    expect(await blocks(source)).toEqual([
      ['list', '1. start'],
      ['code', 'run'],
      ['list', 'then a plan'],
      ['image', ''],
      ['table', 'a | b\n1 | 2'],
    ])
  })

  it('end a code fence in a quote with the quote, even if the fence is not closed', async () => {
    expect(await blocks('> Run:\n> ```sh\n> npm test\n> ```\n> and wait.\n\n# Next\n\nText.\n')).toEqual([
      ['paragraph', 'Run:'],
      ['code', 'npm test'],
      ['paragraph', 'and wait.'],
      ['title', 'Next'],
      ['paragraph', 'Text.'],
    ])
    expect(await blocks('> ```\n> never closed\n\nText.\n')).toEqual([
      ['code', 'never closed'],
      ['paragraph', 'Text.'],
    ])
  })

  it('keep the words of extra table cells, footnotes, undefined links and deep quotes', async () => {
    expect(await blocks('a | b\n--|--\n1 | 2 | a \\| *third* |\n')).toEqual([['table', 'a | b\n1 | 2 | a | third']])
    expect(await blocks('> | a | b |\n> |---|---|\n> | 1 | 2 | 3 |\n')).toEqual([['table', 'a | b\n1 | 2 | 3']])
    expect(await blocks('As said[^1].\n\n[^1]: somewhere\n\n[^2]: or elsewhere\n')).toEqual([
      ['paragraph', 'As said[^1].'],
      ['paragraph', '[^1]: somewhere'],
      ['paragraph', '[^2]: or elsewhere'],
    ])
    expect(await blocks('[here][nowhere] and [there][]')).toEqual([['paragraph', '[here][nowhere] and [there][]']])
    expect(await blocks(`${'> '.repeat(5000)}the needle\n\nText.`)).toEqual([
      ['paragraph', 'the needle'],
      ['paragraph', 'Text.'],
    ])
    expect((await blocks(`${'- '.repeat(500)}the needle\n\nText.`)).map(([, text]) => text).join()).toMatch(
      /the needle,Text\.$/,
    )
  })

  it('keep every word of a paragraph of 20,000 lines', async () => {
    const source = `${'*one* two\nthree  \n'.repeat(10_000)}end`
    const [found, ...others] = await blocks(source)
    expect(others).toEqual([])
    expect(found?.[1].split(/\s+/)).toEqual([...Array(10_000).fill(['one', 'two', 'three']).flat(), 'end'])
  })

  it('keep formulas as written, and do not mistake amounts for formulas', async () => {
    const source =
      'Let $x*y*z$ and $a_{1}^*b^*$.\n\n$$\n\\sum_i a*b*c_1_ \\\\ d\n$$\n\nFrom $5 *now* to $10 *then*, $ *x* $.\n'
    expect((await read('a.md', source)).text).toBe(
      'Let $x*y*z$ and $a_{1}^*b^*$.\n\n$$ \\sum_i a*b*c_1_ \\\\ d $$\n\nFrom $5 now to $10 then, $ x $.',
    )
    const marks = ['$a ', '$$', '$$a', '$a$', '$a$1'].map((mark) => mark.repeat(50_000)).join('\n\n')
    expect((await read('b.md', marks)).text.length).toBeGreaterThan(500_000)
  })

  it('drop closed HTML comments and link definitions, and keep the text after an unclosed comment', async () => {
    expect(
      await blocks(
        'a <!-- x --> b\n\n<!--\nhidden\n\nhidden\n--> rest\nshown\n\n[id]: http://x.y "t"\n\n`<!-- code -->`',
      ),
    ).toEqual([
      ['paragraph', 'a  b'],
      ['paragraph', 'rest'],
      ['paragraph', 'shown'],
      ['paragraph', '<!-- code -->'],
    ])
    expect(await blocks('a <!-- never closed\n\nb')).toEqual([
      ['paragraph', 'a <!-- never closed'],
      ['paragraph', 'b'],
    ])
    expect(await blocks('<!-- never closed\n\n# b')).toEqual([
      ['paragraph', '<!-- never closed'],
      ['title', 'b'],
    ])
    expect(await blocks('> <!-- closed outside\n\nb -->')).toEqual([
      ['paragraph', '<!-- closed outside'],
      ['paragraph', 'b -->'],
    ])
    expect(await blocks('<style>\na {}\n\nb {}\n</style>\nshown')).toEqual([['paragraph', 'shown']])
  })

  it('hide what follows a script or style sheet without an end, as CommonMark does, with a warning', async () => {
    const { text, metadata } = await read('a.md', 'shown\n<script>never closed\n\nhidden')
    expect(text).toBe('shown')
    expect(metadata.warnings).toEqual(['a script or style sheet has no end: what follows it is not read'])
  })

  it('read blocks of HTML as HTML, with their tables, lists and pictures', async () => {
    expect(
      await blocks(
        'Words.\n\n<table>\n<tr><th>A</th><th>B</th></tr>\n\n<tr><td>1</td><td>2</td></tr>\n</table>\n\n<div>\n*as is*\n</div>\n\n*slanted*',
      ),
    ).toEqual([
      ['paragraph', 'Words.'],
      ['table', 'A | B\n1 | 2'],
      ['paragraph', '*as is*'],
      ['paragraph', 'slanted'],
    ])
    expect(await blocks('<div *?\n*foo*')).toEqual([['paragraph', '<div *? *foo*']])
    expect(await blocks('<?php\n\necho 1\n\n?>\nshown')).toEqual([['paragraph', 'shown']])
  })

  it('leave brackets to CommonMark where it defines them', async () => {
    expect(await blocks('[[[a]]]\n\n![[b]]\n\n[[*c* d]]\n\n[*c* d]: /url\n\n[[Page|label]]: words')).toEqual([
      ['paragraph', '[[[a]]]'],
      ['paragraph', '![[b]]'],
      ['paragraph', '[c d]'],
      ['paragraph', 'label: words'],
    ])
  })

  it('take title and metadata from front matter', async () => {
    const document = await read('note.md', '---\ntitle: "Quoted: title"\ntags: [a, b]\n---\nBody.\n')
    expect(document.title).toBe('Quoted: title')
    expect(document.metadata.frontMatter).toEqual({ title: 'Quoted: title', tags: ['a', 'b'] })
    expect(document.text).toBe('Body.')
    expect((await read('note.md', '---\ntitle: plain words\n---\n\n# H\n')).title).toBe('plain words')
    expect((await read('rule.md', '---\nno mapping here\n---\nBody.')).text).toContain('no mapping here')
  })

  it('include quotes and callouts as text', async () => {
    expect(await blocks('> quoted\n> > deeper\n\n> [!note] Mind\n> the gap')).toEqual([
      ['paragraph', 'quoted'],
      ['paragraph', 'deeper'],
      ['paragraph', 'Mind the gap'],
    ])
  })

  it('list pictures as items with their links', async () => {
    const document = await read('note.md', 'See ![a crane](img/crane.png) there.\n\n![alone](https://x.y/z.png)\n')
    expect(document.elements.map((element) => [element.type, element.text])).toEqual([
      ['paragraph', 'See a crane there.'],
      ['image', undefined],
      ['image', 'alone'],
    ])
    expect(document.items.map((item) => item.externalUri)).toEqual(['img/crane.png', 'https://x.y/z.png'])
    expect(document.contentType).toBe('mixed')
  })

  it('keep tables, umlauts and code of the sample documents', async () => {
    expect((await readFixture('simple-table.md')).text).toBe(
      'Item | Price | # In stock\nJuicy Apples | 1.99 | 739\nBananas | 1.89 | 6',
    )
    expect((await readFixture('umlauts-utf8.md')).text).toContain('äöüß')
    const code = await readFixture('codeblock.md')
    expect(code.elements.filter((element) => element.type === 'code')).toHaveLength(3)
  })
})

describe('Markdown inline text', () => {
  it.each([
    ['**bold** *it* __b__ _i_ ~~gone~~', 'bold it b i gone'],
    ['snake_case_name and 2 * 3 * 4', 'snake_case_name and 2 * 3 * 4'],
    ['***both*** and **a *b* c**', 'both and a b c'],
    ['[link](http://x.y/a(b)c "t") and [ref][id]', 'link and ref'],
    ['[plain] and [x](', '[plain] and [x]('],
    ['![alt *text*](p.png)', 'alt text'],
    ['[[Page]] and [[Page|shown]]', 'Page and shown'],
    ['`code *x*` and `` a`b ``', 'code *x* and a`b'],
    ['un`closed', 'un`closed'],
    ['\\*no\\* &amp; &#65;&#x42; &unknown;', '*no* & AB &unknown;'],
    ['<https://a.b> <me@x.y> <b>t</b> 1 < 2', 'https://a.b me@x.y t 1 < 2'],
    ['a<br>b', 'a\nb'],
    ['all *.ts files, x * y', 'all *.ts files, x * y'],
    ['a**bold**b', 'aboldb'],
    ['one\\\ntwo  \nthree\nfour', 'one\ntwo\nthree four'],
    ['*one*  \ntwo', 'one\ntwo'],
  ])('turns %j into %j', async (source, text) => {
    expect((await read('note.md', `${source}\n\n[id]: http://x.y`)).text).toBe(text)
  })
})
