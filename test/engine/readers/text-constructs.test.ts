import { describe, expect, it } from 'vitest'
import type { CompiledDocument } from '../../../src/engine/store/compiled.js'
import { read } from './read.js'

function shown({ elements }: CompiledDocument): string[] {
  return elements.map(({ type, text }) => `${type}: ${text}`)
}

describe('MediaWiki', () => {
  it('leaves no marks of nested links, templates and references, and counts what it leaves out', async () => {
    const source = `[[Datei:Foo.jpg|mini|hochkant|Ein [[Haus|altes Haus]] in ''Köln''.<ref name="x>y">a<ref>b</ref>c</ref>]]
'''Köln''' ist {{lang|fr|[[Paris|la ville]]}} eine {{nowrap|{{convert|5|km|mi}}}} Stadt.<ref name=a /> {{Unknown|Words here}}
[[Bestand:Kaart.svg|miniatuur|links]]
[[Soubor:Obr.png|náhled|popisek s [http://example.org odkazem]]]
<gallery mode=packed>
File:A.jpg|Caption one
Datei:C.jpg|Caption [[two|2]]
</gallery>
See <nowiki>[[not a link]]</nowiki> and <math>\\frac{{a}}{b}</math>.
[[Kategorie:Stadt]]
[[Κατηγορία:Πόλη|x]]
[[de:Köln]]
[[:Category:Shown]] __INHALTSVERZEICHNIS_ERZWINGEN__ -{zh-hans:简;zh-hant:簡}- [//example.org here] &auml;
`
    const document = await read('a.wiki', source)
    expect(shown(document)).toEqual([
      'paragraph: Ein altes Haus in Köln.',
      'paragraph: Köln ist la ville eine 5 km Stadt.',
      'paragraph: popisek s odkazem',
      'list: - Caption one\n- Caption 2',
      'paragraph: See [[not a link]] and $\\frac{{a}}{b}$.',
      'paragraph: Category:Shown 简 here ä',
    ])
    expect(document.metadata).toEqual({
      categories: ['Stadt', 'Πόλη'],
      warnings: ['left out: references: 2, templates: 1'],
    })
  })

  it('places cells below those that span rows, and reads tables in cells and text after a table', async () => {
    const source =
      '{|\n! rowspan="2" | Name || colspan=2 | Values\n|-\n! a !! b\n|-\n| [[X|x]]\n| 1\n* one\n|\n{|\n| p || q\n|}\n|}After.\n'
    const document = await read('a.wiki', source)
    expect(shown(document)).toEqual([
      'table: Name | Values\n | a | b\nx | 1 one | p q',
      'table: p | q',
      'paragraph: After.',
    ])
    expect(document.elements[0]?.metadata).toMatchObject({
      headerRows: 2,
      spans: [
        { row: 0, column: 0, rows: 2, columns: 1 },
        { row: 0, column: 1, rows: 1, columns: 2 },
      ],
    })
  })

  it('leaves out names and sizes of pictures in infoboxes, rows of tables that templates begin, and escaped tags', async () => {
    const source =
      '{{Infobox boat\n| name = Ann\n| image = Ann.jpg\n| size = 250px\n}}\nWords.\n{{s-start}}\n|-\nEnd.\n'
    expect((await read('a.wiki', source)).text).toBe('name: Ann\n\nWords.\n\nEnd.')
    expect((await read('a.wiki', 'One.&lt;ref&gt;Book&lt;/ref&gt; Two.\n')).text).toBe('One. Two.')
  })

  it('keeps the text of marks that are never closed', async () => {
    const { text } = await read('a.wiki', 'One [[open and\n\n{{mark with|words {{{three <ref>unclosed')
    for (const word of ['One', 'open', 'mark', 'with', 'words', 'three', 'unclosed']) expect(text).toContain(word)
  })
})

describe('Org', () => {
  it('reads lists below paragraphs, quotes, fixed width, the title, and no drawers and planning lines', async () => {
    const source = `#+TITLE: My *boats*
#+DATE: <2024-05-01>
#+TODO: NEXT | CANCELLED
* NEXT [#A] Task one :tag:
SCHEDULED: <2024-05-01 Wed> DEADLINE: <2024-06-01>
:LOGBOOK:
- State "DONE"
:END:
A paragraph
- item one
  more
- item two
Next paragraph.
| a | b |
|---+---|
| 1 | 2 |
#+BEGIN_QUOTE
Quoted words
#+END_QUOTE
: fixed width
* Rest
:OPEN:
words in an open drawer
* End
#+INCLUDE: "other.org"
#+begin_export html
<p>Raw words</p>
#+end_export
#+begin_export latex
\\relax
#+end_export
`
    const document = await read('a.org', source)
    expect(shown(document)).toEqual([
      'title: My boats',
      'heading: Task one',
      'paragraph: A paragraph',
      'list: - item one\n  more\n- item two',
      'paragraph: Next paragraph.',
      'table: a | b\n1 | 2',
      'paragraph: Quoted words',
      'code: fixed width',
      'heading: Rest',
      'paragraph: :OPEN: words in an open drawer',
      'heading: End',
      'paragraph: Raw words',
    ])
    expect(document.metadata.warnings).toEqual(['not followed: "other.org", raw latex'])
  })
})

describe('AsciiDoc', () => {
  it('reads spans, conditions, cells with blocks, footnotes and definitions, and reports dropped cells', async () => {
    const source = `= Boats
:flag: x

Text.footnote:[A note.] {flag}

ifdef::flag[]
Shown words.
endif::[]
ifndef::flag[]
Hidden words.
endif::[]

[cols="1,1a"]
|===
.2+|Tall |* item
|second
2+|wide
|===

|===
|a |b
|c
|===

[horizontal]
term:: what it means

include::more.adoc[]
`
    const document = await read('a.adoc', source)
    expect(shown(document)).toEqual([
      'title: Boats',
      'paragraph: Text.[1] x',
      'paragraph: [1] A note.',
      'paragraph: Shown words.',
      expect.stringMatching(/^table: Tall \| .*item\n \| second\nwide$/),
      'table: a | b',
      'list: - term: what it means',
    ])
    expect(document.metadata.warnings).toEqual([
      'not followed: more.adoc',
      expect.stringContaining('dropping cells from incomplete row'),
    ])
  })
})

describe('LaTeX', () => {
  it('gives long tables their head once, and cells over several rows and columns', async () => {
    const source = `\\begin{longtable}[]{@{}rl@{}}
\\caption{Prices}\\label{t}\\tabularnewline
\\toprule\\noalign{}
Right & Left \\\\
\\midrule\\noalign{}
\\endfirsthead
\\toprule\\noalign{}
Right & Left \\\\
\\midrule\\noalign{}
\\endhead
\\bottomrule\\noalign{}
\\endlastfoot
\\multirow{2}{*}{12} & \\textbf{a} \\& b \\\\
 & c\\^{}2 \\\\
\\multicolumn{2}{l}{wide \\shortstack{x \\\\ y}} \\\\
\\end{longtable}
`
    const document = await read('a.tex', source)
    expect(shown(document)).toEqual(['paragraph: Prices', 'table: Right | Left\n12 | a & b\n | c^2\nwide x y'])
    expect(document.elements[1]?.metadata).toMatchObject({
      headerRows: 1,
      caption: 'Prices',
      spans: [
        { row: 1, column: 0, rows: 2, columns: 1 },
        { row: 3, column: 0, rows: 1, columns: 2 },
      ],
    })
  })
})

describe('manual pages', () => {
  it('read on after a definition with a named end', async () => {
    const { text } = await read(
      'a.1',
      '.TH A 1\n.de XX END\nhidden\n..\nhidden too\n.END\n.SH NAME\na \\- words\n.ig\nhidden\n..\nEnd.\n',
    )
    expect(text).toBe('NAME\n\na - words End.')
  })
})

describe('Markdown', () => {
  it('leaves out comments of Obsidian and keeps other percent signs', async () => {
    const source =
      'Words %%hidden%% end. 7 %% 2 and 5 %% 3.\n\n%% one line %%\n\ntext\n%%\nhidden\n\nhidden\n%%\nAfter `%%code%%`.\n\nopen %%never closed\n'
    expect((await read('a.md', source)).text).toBe(
      'Words  end. 7 %% 2 and 5 %% 3.\n\ntext\n\nAfter %%code%%.\n\nopen %%never closed',
    )
  })
})

describe('FictionBook', () => {
  it('makes headings of subtitles', async () => {
    const source =
      '<?xml version="1.0"?><FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0"><body><section><title><p>Part</p></title><subtitle>Dawn</subtitle><p>Words.</p></section></body></FictionBook>'
    expect(shown(await read('a.fb2', source))).toEqual(['title: Part', 'heading: Dawn', 'paragraph: Words.'])
  })
})
