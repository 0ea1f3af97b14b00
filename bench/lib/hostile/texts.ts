/** Small texts of formats that the samples of the tests do not have. */
export const TEXTS: Readonly<Record<string, string>> = {
  'letter.rtf': String.raw`{\rtf1\ansi\ansicpg1252{\stylesheet{\s0 Normal;}{\s3\outlinelevel1 H;}}{\info{\title T}}
{\pard\outlinelevel0\b Top\par}\pard One \b bold\b0  word{\footnote\pard A note.\par} here.\line Next\par
\pard{\pntext 1.\tab}first\par\pard\trowd\intbl Name\cell Count\cell\row
\pard{\field{\*\fldinst HYPERLINK "x"}{\fldrslt link}}{\pict\pngblip 89504e47}\u8364?.\par}`,
  'book.fb2':
    '<?xml version="1.0"?><FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0"><description><title-info><author><first-name>Ann</first-name></author><book-title>Boats</book-title></title-info></description><body><section><title><p>One</p></title><p>It sails.</p><poem><stanza><v>A verse</v></stanza></poem></section></body><binary id="a">AAAABBBB</binary></FictionBook>',
  'page.wiki': `= Tin =
'''Tin''' is a [[metal]].<ref>A book</ref>
{{Infobox metal|name=Tin|melts={{convert|232|C}}}}
* one
** two
{| class="wikitable"
! Metal !! Price
|-
| Tin || 4.5
|}
<math>a^2</math>
[[Category:Metals]]`,
  'page.html': `<!doctype html><html lang="en"><head><title>Tin</title><meta name="author" content="A. Lee"><script type="application/ld+json">{"@type":"Article","datePublished":"2024-05-01"}</script></head>
<body><nav><a href="/">Home</a></nav><article><h1>Tin</h1><p>Tin is a soft metal that melts at low heat.</p><table><tr><th colspan="2">a</th></tr><tr><td>1</td><td>2</td></tr></table><ul><li>x<ul><li>y</li></ul></li></ul><img src="data:image/png;base64,iVBORw0KGgo=" alt="A bar"><pre><code>let a</code></pre></article><footer>end</footer></body></html>`,
  'note.md': `---
title: Tin
date: 2024-05-01
---
# Tin

Words with *marks*, a [link](https://a.example), a note[^1] and $a*b$.

- one
  - two
1. three

| a | b |
|---|---|
| 1 | 2 |

> [!NOTE] said

\`\`\`sh
npm test
\`\`\`

[^1]: It says more.

    And more.
`,
  'rows.csv': 'Metal;Price\n"Tin; soft";4.5\nLead;2\n',
  'values.json': '{"a": [1, 2, {"b": "c"}], "d": null, "e": "\\u00e9"}',
  'values.yaml': 'a: &x\n  - 1\n  - b: c\nd: *x\ne: |\n  text\n  more\n',
  'feed.rss':
    '<?xml version="1.0"?><rss version="2.0"><channel><title>Metals</title><item><title>Tin</title><description>&lt;p&gt;soft&lt;/p&gt;</description></item></channel></rss>',
  'drawing.svg': '<svg xmlns="http://www.w3.org/2000/svg"><title>Bar</title><text x="1" y="2">Tin</text></svg>',
  'settings.ini': '; about\n[metals]\ntin = 4.5\nlead: 2\n[other]\nempty =\n',
}

/** A few lines in languages whose symbols are looked for in other ways. */
export const CODE: Readonly<Record<string, string>> = {
  'store.ts':
    'import { a } from "b"\n/** Keeps. */\nexport class Store<T> {\n  #items = new Map<string, T>()\n  get(key: string): T | undefined {\n    return this.#items.get(key)\n  }\n}\nexport const price = (tin: number) => {\n  return `a b`.length\n}\n',
  'Store.java':
    'package a;\npublic class Store {\n  /* prices */\n  private final int[] a = {1};\n  @Override public String get(String key) {\n    return "{" + key;\n  }\n  interface Inner { void run(); }\n}\n',
  'store.c':
    '#include <a.h>\n// prices\nstatic int price(const char *metal)\n{\n  return 4;\n}\nstruct bar { int a; };\n',
  'store.go':
    'package store\n\nimport "fmt"\n\ntype Store struct {\n\ta int\n}\n\nfunc (s *Store) Get() int {\n\treturn s.a\n}\n',
  'store.rs':
    'pub struct Store { a: u32 }\nimpl Store {\n    /// Gets.\n    pub fn get(&self) -> u32 { self.a }\n}\nmod tests {\n    fn t() {}\n}\n',
  'store.rb': 'module Metals\n  class Store\n    def get(key)\n      @a[key]\n    end\n  end\nend\n',
  'store.sh': '#!/bin/bash\n# prices\nprice() {\n  echo "$1" <<EOF\n{\nEOF\n}\nprice tin\n',
}
