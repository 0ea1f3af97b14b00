import fc from 'fast-check'
import { Tokenizer } from 'htmlparser2'
import { describe, expect, it } from 'vitest'
import { readMarkup } from '../../../src/engine/readers/markup/markup-events.js'
import { measureGrowth } from '../../helpers/processor-time.js'
import { read } from './read.js'

type Event = ['open', string, [string, string][]] | ['close', string] | ['text', string]

/** Joins consecutive texts. */
function joined(events: readonly Event[]): Event[] {
  const all: Event[] = []
  for (const event of events) {
    const last = all.at(-1)
    if (event[0] === 'text' && last?.[0] === 'text') last[1] += event[1]
    else all.push(event[0] === 'text' ? ['text', event[1]] : event)
  }
  return all
}

function eventsOf(source: string, xml: boolean): Event[] {
  const events: Event[] = []
  const handler = {
    open: (name: string, attributes: { entries(): [string, string][] }) =>
      events.push(['open', name, attributes.entries()]),
    close: (name: string) => events.push(['close', name]),
    text: (text: string) => events.push(['text', text]),
  }
  readMarkup(source, handler, xml ? 'xml' : 'html')
  return joined(events)
}

/** The events of the library's tokenizer, which decodes references itself. */
function toldBy(source: string, xml: boolean): Event[] {
  const events: Event[] = []
  const name = (start: number, end: number) => {
    const raw = source.slice(start, end)
    return xml ? raw : raw.toLowerCase()
  }
  let open: [string, Map<string, string>] = ['', new Map()]
  let attribute = ''
  let value = ''
  const tokenizer = new Tokenizer(
    { xmlMode: xml, decodeEntities: true },
    {
      onopentagname: (start, end) => {
        open = [name(start, end), new Map()]
      },
      onattribname(start, end) {
        attribute = name(start, end)
        value = ''
      },
      onattribdata: (start, end) => {
        value += source.slice(start, end)
      },
      onattribentity: (code) => {
        value += String.fromCodePoint(code)
      },
      onattribend: () => {
        if (!open[1].has(attribute)) open[1].set(attribute, value)
      },
      onopentagend: () => events.push(['open', open[0], [...open[1]]]),
      onselfclosingtag() {
        events.push(['open', open[0], [...open[1]]])
        if (xml) events.push(['close', open[0]])
      },
      onclosetag: (start, end) => events.push(['close', name(start, end)]),
      ontext: (start, end) => events.push(['text', source.slice(start, end)]),
      ontextentity: (code) => events.push(['text', String.fromCodePoint(code)]),
      oncdata: (start, end, rest) => {
        if (xml) events.push(['text', source.slice(start, end - rest)])
      },
      oncomment: () => undefined,
      ondeclaration: () => undefined,
      onprocessinginstruction: () => undefined,
      onend: () => undefined,
    },
  )
  tokenizer.write(source)
  tokenizer.end()
  return joined(events)
}

/** Without `title` and `textarea`: the library leaves references behind a `<` in them as they are. */
const PIECES = [
  ...'<>/="\'&;! \n\vaZ1é漢',
  '<p',
  '</p>',
  '<P CLASS="a&amp;b">',
  '<a href=x&lt=1 href="two">',
  '<script>',
  '</script>',
  '<style>',
  '</style>',
  '<xmp>',
  '</xmp>',
  '<script/>',
  '<br/>',
  '<![CDATA[',
  ']]>',
  '<!--',
  '-->',
  '<?x',
  '&amp',
  '&copy',
  '&copy=',
  '&notit;',
  '&#65',
  '&#x1F600;',
  '&#0;',
  '&acE;',
  '&nosuch;',
  'averylongnameofanelement',
]

describe('events of markup', () => {
  it.each([false, true])("decode character references like the library's tokenizer (XML: %s)", (xml) => {
    const source = fc.array(fc.constantFrom(...PIECES), { maxLength: 30 }).map((pieces) => `${pieces.join('')}?>`)
    fc.assert(
      fc.property(source, (text) => {
        expect(eventsOf(text, xml)).toEqual(toldBy(text, xml))
      }),
      { numRuns: 3000 },
    )
  })

  it('decode character references in HTML titles, but not in scripts', () => {
    expect(eventsOf('<title>a &amp; <&lt;</title><script>&amp;</script>&amp;', false)).toEqual([
      ['open', 'title', []],
      ['text', 'a & <<'],
      ['close', 'title'],
      ['open', 'script', []],
      ['text', '&amp;'],
      ['close', 'script'],
      ['text', '&'],
    ])
  })

  it('keep the names of 5,000 elements, although the name cache reuses its slots', () => {
    const names = Array.from({ length: 5000 }, (_, at) => `n${at.toString(36)}`)
    const source = names.map((name) => `<${name} ${name}x="${name}">`).join('')
    expect(eventsOf(source, true)).toEqual(names.map((name) => ['open', name, [[`${name}x`, name]]]))
    expect(eventsOf('<TD RowSpan=2><td ROWSPAN=3>', false)).toEqual([
      ['open', 'td', [['rowspan', '2']]],
      ['open', 'td', [['rowspan', '3']]],
    ])
  })
})

describe('an inline XBRL filing', () => {
  it('loses its hidden machine-readable facts', async () => {
    const { text } = await read(
      'filing.html',
      `<html><body><div style="display:none"><ix:header><ix:hidden><ix:nonNumeric name="dei:AmendmentFlag">false</ix:nonNumeric></ix:hidden></ix:header></div>
       <p>Annual report of <ix:nonNumeric name="dei:EntityRegistrantName">Brest Lamps</ix:nonNumeric></p></body></html>`,
    )
    expect(text).toBe('Annual report of Brest Lamps')
  })

  it('include the text after a declaration of XML that ends in a bracket alone', () => {
    expect(eventsOf('<?xml version="1.0"><a>b</a>', true)).toEqual([
      ['open', 'a', []],
      ['text', 'b'],
      ['close', 'a'],
    ])
  })

  it.each([
    ['a<!-- b --!>c', 'ac'],
    ['a<!-->b', 'ab'],
    ['a<script>b</script/>c', 'ac'],
    ['a<style>b</style x="1" >c', 'ac'],
    ['a</p title="b>c">d', 'ad'],
    ['a</p title=b>c">d', 'ac">d'],
    ['a</p title="b>c', 'a'],
    ['a<script>"<!-- <script> "</script>b</script>c', 'ac'],
    ['a<script><!-- <scripted> </script>b', 'ab'],
    ['a<script><!-- <script> --></script>b', 'ab'],
    ['a<script><!-- <script </script> </script>b', 'ab'],
    ['a<script>1 <!--> <script> </script>b', 'ab'],
  ])('end comments, scripts and tags where the standard of HTML ends them: %s', (source, text) => {
    const words: string[] = []
    let hidden = false
    for (const [kind, value] of eventsOf(source, false)) {
      if (kind === 'text' && !hidden) words.push(value)
      if (kind !== 'text' && /^(?:script|style)$/.test(value)) hidden = kind === 'open'
    }
    expect(words.join('')).toBe(text)
  })
})

describe('the reading of hostile web pages', () => {
  const cases: [label: string, make: (size: number) => string][] = [
    ['one wide row above many narrow ones', (n) => `<table><tr>${'<td>x'.repeat(n / 12)}${'<tr><td>x'.repeat(n / 12)}`],
    ['cells that span a thousand columns and rows', (n) => `<table>${'<td colspan=999 rowspan=999>x'.repeat(n / 29)}`],
    ['cells that span a thousand rows', (n) => `<table>${'<tr><td rowspan=999>x<td>y'.repeat(n / 26)}`],
    ['a long table of two columns', (n) => `<table>${'<tr><td>$<td>12'.repeat(n / 16)}`],
    ['tables in tables', (n) => '<table><tr><td>x<td>'.repeat(n / 20)],
    ['elements that never close', (n) => '<div class=a><b><span style="font-size:9pt">x'.repeat(n / 44)],
    ['lists in lists', (n) => '<ul><li>x'.repeat(n / 9)],
    ['thousands of attributes in one element', (n) => `<p ${'a1=b '.repeat(n / 5)}>x</p>`],
    ['thousands of text styles', (n) => times(n / 50, (at) => `<b style="font-size:${at % 997}.${at}pt">${at} x</b>`)],
    ['one long line', (n) => `<p>${'word &amp; word '.repeat(n / 16)}`],
    ['thousands of line ends', (n) => 'x<br>'.repeat(n / 5)],
    [
      'thousands of links within the page',
      (n) => times(n / 40, (at) => `<a href="#p${at}">Place ${at}</a><p id="p${at}">Place ${at}`),
    ],
    ['many footnotes', (n) => times(n / 60, (at) => `<p>x<a href="#fn${at}">${at}</a><p id="fn${at}">note ${at}`)],
    ['a long run of white space', (n) => `<p>a${' \n\t'.repeat(n / 3)}b`],
  ]

  it.each(cases)('takes linear time with %s', { timeout: 120_000 }, async (_label, make) => {
    const readOf = (size: number) => read('page.html', `<html><body>${make(size)}`)
    expect(await measureGrowth(readOf, { size: 200_000, floorMs: 500 })).toMatchObject({ isLinear: true })
  })
})

function times(count: number, make: (place: number) => string): string {
  return Array.from({ length: count }, (_, at) => make(at)).join('')
}
