import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { utils, write } from '@e965/xlsx'
import { afterAll, describe, expect, it } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { createCompiler } from '../../../src/engine/readers/compiler.js'
import { ReadError } from '../../../src/engine/readers/limits.js'
import { measureGrowth } from '../../helpers/processor-time.js'
import { makeOdf, relations } from './office.js'
import { makeDoc, makePpt, summary } from './old-office.js'
import { makeZip, read } from './read.js'
import { SAMPLES } from './samples.js'

/** Number of damaged files of each format. */
const MUTATIONS = 200

function workbook(): Buffer {
  const book = utils.book_new()
  const rows = [['Metal', 'Price'], ...Array.from({ length: 20 }, (_, index) => [`m${index}`, index * 1.5])]
  utils.book_append_sheet(book, utils.aoa_to_sheet(rows), 'Prices')
  return write(book, { type: 'buffer', bookType: 'xlsb' })
}

const FILES: [string, Buffer][] = [
  [
    'old.doc',
    makeDoc(
      [
        { text: 'Report', style: 3 },
        { text: 'Words\u0002 of \u0013LINK\u0014it\u0015.' },
        { text: 'one', item: 0 },
        { text: 'a', mark: 'cell' },
        { text: '', mark: 'row' },
        { text: 'gone', deleted: true },
      ],
      { notes: ['note'], header: 'top', streams: { '\u0005SummaryInformation': summary('t', 'a') } },
    ),
  ],
  [
    'old.ppt',
    makePpt([
      { title: 'One', body: 'a\n>b', notes: 'say' },
      {
        title: 'Two',
        table: [
          ['a', 'b'],
          ['c', 'd'],
        ],
      },
    ]),
  ],
  ['book.xlsb', workbook()],
  [
    'net.vsdx',
    makeZip([
      { name: 'visio/document.xml', content: '<VisioDocument/>' },
      { name: 'visio/pages/pages.xml', content: '<Pages><Page Name="N"><Rel r:id="r1"/></Page></Pages>' },
      { name: 'visio/pages/_rels/pages.xml.rels', content: relations([{ id: 'r1', kind: 'page', target: 'p.xml' }]) },
      { name: 'visio/pages/p.xml', content: '<PageContents><Shape><Text>Router</Text></Shape></PageContents>' },
    ]),
  ],
  ['plan.odg', makeOdf('graphics', '<office:drawing><draw:page><text:p>Boiler</text:p></draw:page></office:drawing>')],
  ...Object.entries(SAMPLES).map(([name, text]): [string, Buffer] => [name, Buffer.from(text)]),
]

/** Pseudorandom numbers that are the same in every run (xorshift). */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}

/** A copy that is truncated or has flipped bits, or overwritten, repeated or missing ranges. */
function damaged(bytes: Buffer, next: (below: number) => number): Buffer {
  const kind = next(5)
  const at = next(bytes.length)
  const length = 1 + next(Math.min(64, bytes.length))
  if (kind === 0) return bytes.subarray(0, at)
  if (kind === 1) return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)])
  if (kind === 2) {
    const piece = bytes.subarray(at, at + length)
    return Buffer.concat([
      bytes.subarray(0, at),
      ...Array.from({ length: 1 + next(50) }, () => piece),
      bytes.subarray(at),
    ])
  }
  const copy = Buffer.from(bytes)
  if (kind === 3) copy.fill(next(2) === 0 ? 0xff : next(256), at, Math.min(copy.length, at + Math.min(length, 8)))
  else
    for (let count = 1 + next(20); count > 0; count--) {
      const place = next(copy.length)
      copy[place] = (copy[place] ?? 0) ^ (1 << next(8))
    }
  return copy
}

describe('damaged files of less common formats', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ks-hostile-'))
  afterAll(() => removeFolder(folder))

  it('become a document or fail with a reason, and crash no reading process', { timeout: 600_000 }, async () => {
    const requests = FILES.flatMap(([name, bytes], place) => {
      const next = numbers(7919 + place)
      return Array.from({ length: MUTATIONS }, (_, index) => {
        const path = join(folder, `${index}-${name}`)
        writeFileSync(path, damaged(bytes, next))
        return { path, filename: name }
      })
    })
    const compiler = createCompiler({ children: 1 })
    const results = await compiler.compile(requests)
    await compiler.close()
    expect(results).toHaveLength(FILES.length * MUTATIONS)
    const counts = new Map<string, { read: number; told: number }>()
    const accidents: string[] = []
    for (const [index, result] of results.entries()) {
      const name = requests[index]?.filename ?? ''
      const count = counts.get(name) ?? { read: 0, told: 0 }
      counts.set(name, count)
      if (result.ok) count.read++
      else {
        count.told++
        const { code, message } = result.failure
        // "could not be read" marks an unforeseen error.
        if (
          code === 'crashed' ||
          code === 'timeout' ||
          !message.includes(name) ||
          message.includes('could not be read:')
        )
          accidents.push(`${requests[index]?.path}: ${code}: ${message}`)
      }
    }
    expect(accidents).toEqual([])
    for (const [name, { read: readable, told }] of counts) expect([name, readable + told]).toEqual([name, MUTATIONS])
  })
})

describe('hostile texts of less common formats', () => {
  const cases: [string, string, (n: number) => string][] = [
    ['open environments', 'a.tex', (n) => '\\begin{verbatim}\\begin{tabular}{l}'.repeat(n / 8)],
    ['open braces', 'a.tex', (n) => '\\section{\\footnote{\\textbf{'.repeat(n / 8)],
    ['formulas without end', 'a.tex', (n) => '\\(a \\[b '.repeat(n / 4)],
    ['dollars', 'a.tex', (n) => '$a'.repeat(n)],
    ['accents', 'a.tex', (n) => '\\\'{\\"'.repeat(n / 2)],
    ['blank lines', 'a.tex', (n) => '\n \n'.repeat(n)],
    ['options', 'a.tex', (n) => '\\item[\\cite['.repeat(n / 4)],
    ['templates in templates', 'a.wiki', (n) => '{{a|'.repeat(n)],
    ['open links', 'a.wiki', (n) => '[[File:a|'.repeat(n / 4)],
    ['open elements', 'a.wiki', (n) => '<ref><math><pre>'.repeat(n / 4)],
    ['tables in tables', 'a.wiki', (n) => '{|\n| a\n'.repeat(n / 4)],
    ['quotes', 'a.wiki', (n) => "'''''a".repeat(n)],
    ['fences', 'a.adoc', (n) => '====\n----\n|===\n'.repeat(n / 8)],
    ['marks', 'a.adoc', (n) => '*a _b `c link:x['.repeat(n / 8)],
    ['long terms', 'a.adoc', (n) => `${'a '.repeat(n)}::`],
    ['list marks', 'a.adoc', (n) => '* a\n+\n'.repeat(n / 4)],
    ['cues', 'a.vtt', (n) => `WEBVTT\n\n${'00:00:01.000 --> 00:00:02.000\n<v <v <i\n'.repeat(n / 16)}`],
    ['folded lines', 'a.ics', (n) => `BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:a\n${' b\n'.repeat(n)}`],
    ['open components', 'a.ics', (n) => 'BEGIN:VEVENT\n'.repeat(n)],
    ['quoted-printable', 'a.vcf', (n) => `BEGIN:VCARD\nNOTE;ENCODING=QUOTED-PRINTABLE:${'a=\n'.repeat(n)}`],
    ['open strings', 'a.sql', (n) => `INSERT INTO a VALUES ${"('a".repeat(n)}`],
    ['open dollars', 'a.sql', (n) => `INSERT INTO a VALUES (1);${'$a$ '.repeat(n)}`],
    ['many statements', 'a.sql', (n) => 'INSERT INTO a VALUES (1);\n'.repeat(n / 8)],
    ['one wide row', 'a.sql', (n) => `INSERT INTO a VALUES (${'1,'.repeat(n)}1);`],
    ['comments', 'a.sql', (n) => `INSERT INTO a VALUES (1);${'/* '.repeat(n)}`],
    ['long lines', 'a.log', (n) => `${'2024-05-01 10:00:00 a\n'.repeat(10)}${'x'.repeat(n * 4)}`],
    ['sections', 'a.toml', (n) => '[a]\n'.repeat(n)],
    ['blank headers', 'a.1', (n) => `.\\" a\n${'\n'.repeat(n)}.TH A 1\n`],
    ['requests', 'a.man', (n) => '.TP\n.IP "a "" b\n'.repeat(n / 8)],
    ['escapes', 'a.man', (n) => `.TH A 1\n${'\\f[\\(\\*['.repeat(n)}`],
    ['entries', 'a.bib', (n) => '@a{b, c = {'.repeat(n / 8)],
    ['deep outlines', 'a.opml', (n) => `<opml>${'<outline text="a">'.repeat(n / 8)}`],
    ['deep sections', 'a.nxml', (n) => `<article><front/><body>${'<sec><title>a</title><p>'.repeat(n / 8)}`],
    [
      'entries in heads',
      'a.xml',
      (n) => `<article xmlns="http://docbook.org/ns/docbook">${'<thead><entry>'.repeat(n / 8)}`,
    ],
    ['readings', 'a.html', (n) => '<ruby>a<rt>b'.repeat(n / 4)],
    ['pages', 'a.xml', (n) => `<mediawiki>${'<page><text>a{{</text></page>'.repeat(n / 8)}`],
    ['one line of code', 'a.ts', (n) => `${'function a(){'.repeat(n)}`],
    [
      'deep code',
      'a.py',
      (n) => Array.from({ length: Math.sqrt(n) }, (_, i) => `${' '.repeat(i)}class A${i}:`).join('\n'),
    ],
    ['comments that end none', 'a.java', (n) => '/* a\n'.repeat(n)],
    ['comments above', 'a.c', (n) => `${'// a\n'.repeat(n)}int f(void)\n{\n}\n`.repeat(2)],
    ['modifiers', 'a.kt', (n) => `${'public '.repeat(n)}x\n`],
    ['cells', 'a.ipynb', (n) => `{"cells": [${'{"cell_type":"raw","source":"a"},'.repeat(n / 8)}{}]}`],
  ]

  it.each(cases)('take linear time to read: %s in %s', { timeout: 120_000 }, async (_label, name, make) => {
    const readOf = (size: number) =>
      read(name, make(size)).catch((error: unknown) => expect(error).toBeInstanceOf(ReadError))
    expect(await measureGrowth(readOf, { size: 100_000, floorMs: 500 })).toMatchObject({ isLinear: true })
  })
})
