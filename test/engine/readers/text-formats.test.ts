import { describe, expect, it } from 'vitest'
import type { CompiledDocument } from '../../../src/engine/store/compiled.js'
import { failureOf, read } from './read.js'
import { SAMPLES } from './samples.js'

const sample = (name: string): Promise<CompiledDocument> => read(name, SAMPLES[name] ?? '')
const shown = (document: CompiledDocument): string[] =>
  document.elements.map(({ type, text }) => `${type}: ${text ?? ''}`)
const path = (document: CompiledDocument, text: string): string =>
  document.elements.find((element) => element.text?.includes(text) === true)?.sectionPath.join(' › ') ?? 'nowhere'

describe('LaTeX', () => {
  it('gives sections, lists, tables, formulas, code, notes and references, without commands', async () => {
    const document = await sample('paper.tex')
    expect([document.title, document.mediaType]).toEqual(['On Tin', 'text/x-tex'])
    expect(document.metadata).toEqual({
      authors: ['Ann Lee', 'Bob Müller'],
      created: 'May 2024',
      warnings: ['not followed: chapters/end'],
    })
    expect(shown(document)).toEqual([
      'title: On Tin',
      'heading: Abstract',
      'paragraph: We study tin.',
      'heading: Method',
      'paragraph: TinNet is fast [lee20], see $E = mc^2$ and café. $a = b + c$',
      'paragraph: A note.',
      'list: - first thing\n- second',
      'heading: Data',
      'paragraph: Prices',
      'table: Metal | Price\nTin | 4.5\nLead | 2',
      'code: print("x") # 1',
      'heading: References',
      'list: - [lee20] Lee, A.: Tin. 2020.',
    ])
    expect(path(document, 'Lead | 2')).toBe('Method › Data')
    expect(document.elements.find(({ type }) => type === 'code')?.metadata.language).toBe('python')
  })
})

describe('AsciiDoc', () => {
  it('gives headings, lists, tables with heads, code and attributes, and warns about includes', async () => {
    const document = await sample('guide.adoc')
    expect([document.title, document.language]).toEqual(['Guide to Tin', 'en'])
    expect(document.metadata).toEqual({
      authors: ['Ann Lee'],
      created: '2024-05-01',
      warnings: ['not followed: more.adoc'],
    })
    expect(shown(document)).toEqual([
      'title: Guide to Tin',
      'heading: Install',
      'paragraph: Get TinDB from the site. It is fast and small.',
      'list: - one\n  - deeper\n- two',
      'paragraph: Prices',
      'table: Metal | Price\nTin | 4.5\nLead | 2',
      'code: apt install tin',
      'paragraph: NOTE: Keep dry.',
      'heading: Details',
      'list: - term: what it means',
    ])
    expect(document.elements.find(({ type }) => type === 'table')?.metadata).toMatchObject({
      headerRows: 1,
      caption: 'Prices',
    })
    expect(path(document, 'what it means')).toBe('Install › Details')
  })

  it('labels the first paragraph after an admonition style', async () => {
    const source =
      '[WARNING]\nHot.\n\n[TIP]\n====\n* Listed.\n====\n\nPlain.\n\n[NOTE]\n====\nKeep dry.\n\nMore.\n====\n'
    expect(shown(await read('notes.adoc', source))).toEqual([
      'paragraph: WARNING: Hot.',
      'list: - Listed.',
      'paragraph: Plain.',
      'paragraph: NOTE: Keep dry.',
      'paragraph: More.',
    ])
  })
})

describe('MediaWiki', () => {
  it('gives infobox fields, tables, code and categories, without templates and references', async () => {
    const document = await sample('Tin.mediawiki')
    expect(document.metadata).toEqual({ categories: ['Metals'], warnings: ['left out: references: 1'] })
    expect(shown(document)).toEqual([
      'list: name: Tin\nmelting point: 231 °C',
      'paragraph: Tin is a element.',
      'heading: Uses',
      'list: - Solder\n  - soft\n1. first',
      'paragraph: Prices',
      'table: Year | Price\n2020 | 4.5',
      'code: print("tin")',
      'paragraph: A bar of tin',
    ])
  })

  it('gives each page of a dump as a section, without redirects', async () => {
    const document = await sample('dump.xml')
    expect([document.title, document.language, document.metadata.entryCount]).toEqual(['Metals', 'en', 2])
    expect([path(document, 'Solder'), path(document, 'heavy')]).toEqual(['Tin › Uses', 'Lead'])
    expect(document.text).not.toContain('REDIRECT')
  })
})

describe('XML papers and manuals', () => {
  it('give title, authors, date, abstract, sections, tables and references in JATS', async () => {
    const document = await sample('paper.nxml')
    expect([document.title, document.mediaType, document.language]).toEqual(['On Tin', 'application/jats+xml', 'en'])
    expect(document.metadata).toEqual({
      authors: ['Ann Lee'],
      created: '2024-05-02',
      journal: 'J. Metals',
      keywords: ['tin', 'metal'],
    })
    expect(shown(document)).toEqual([
      'title: On Tin',
      'paragraph: Ann Lee',
      'paragraph: Keywords: tin, metal',
      'heading: Abstract',
      'paragraph: We study tin.',
      'heading: Method',
      'paragraph: We melt it.',
      'heading: Data',
      'paragraph: Table 1',
      'paragraph: Prices',
      'table: Metal | Price\nTin | 4.5',
      'heading: References',
      'list: - 1 Kim Lead 2019',
    ])
    expect(path(document, 'Tin | 4.5')).toBe('On Tin › Method › Data')
  })

  it('give title, authors, sections, lists, code and tables in TEI and DocBook', async () => {
    const tei = await sample('paper.tei')
    expect([tei.title, tei.mediaType, tei.metadata.authors]).toEqual(['On Tin', 'application/tei+xml', ['Ann Lee']])
    expect(shown(tei).slice(2)).toEqual([
      'heading: Abstract',
      'paragraph: We study tin.',
      'heading: Method',
      'paragraph: We melt it.',
      'list: - one\n- two',
    ])
    const manual = await sample('manual.xml')
    expect([manual.title, manual.mediaType]).toEqual(['Manual of Tin', 'application/docbook+xml'])
    expect(manual.metadata).toEqual({ authors: ['Ann Lee'], created: '2024-05-01' })
    expect(shown(manual).slice(2)).toEqual([
      'heading: Install',
      'paragraph: Run tin.',
      'list: - one\n- two',
      'heading: Options',
      'code: tin --all\n  more',
      'paragraph: Flags',
      'table: Flag | Sense\n-a | all',
    ])
    expect(path(manual, '-a | all')).toBe('Manual of Tin › Install › Options')
  })
})

describe('manual pages', () => {
  it('give options, examples and tables, from a file with its section number as extension', async () => {
    const document = await sample('tin.1')
    expect([document.title, document.mediaType, document.metadata.created]).toEqual([
      'TIN(1)',
      'text/troff',
      '2024-05-01',
    ])
    expect(shown(document)).toEqual([
      'heading: NAME',
      'paragraph: tin - melts metals',
      'heading: OPTIONS',
      'list: - -a: melt all',
      'paragraph: Then wait.',
      'code: tin -a\n  now',
      'table: Metal | Price\nTin | 4.5',
    ])
  })
})

describe('subtitles', () => {
  it('give paragraphs with times in WebVTT, in sections of two minutes', async () => {
    const document = await sample('talk.vtt')
    expect(document.metadata).toEqual({ cueCount: 3, duration: '00:02:12' })
    expect(shown(document)).toEqual([
      'paragraph: Ann: Hello all. Today we speak of tin.',
      'paragraph: And now of lead.',
    ])
    expect(document.elements[0]?.metadata).toMatchObject({ startTime: '00:00:01', endTime: '00:00:05' })
    expect(path(document, 'lead')).toBe('00:02:00 – 00:04:00')
  })

  it('give paragraphs that a pause separates in SubRip', async () => {
    expect(shown(await sample('talk.srt'))).toEqual(['paragraph: Hello all.', 'paragraph: After a pause.'])
    expect((await read('talk', SAMPLES['talk.srt'] ?? '')).mediaType).toBe('application/x-subrip')
  })
})

describe('source code', () => {
  it('gets a section for each class and function, and none for a function within another', async () => {
    const document = await sample('store.py')
    expect(document.elements.map(({ sectionPath }) => sectionPath.join(' › '))).toEqual([
      '',
      'LIMIT',
      'Store',
      'Store › __init__',
      'Store › size',
      'main',
    ])
    expect(document.elements[4]?.text).toMatch(/^ {4}@property\n {4}def size/)
    expect(document.elements[4]?.text).toContain('def inner')
  })

  it.each([
    [
      'a.ts',
      'export class A {\n  async run(x: number): Promise<void> {\n    go()\n  }\n}\nexport const f = (a: string) => {\n  b()\n}\n',
      ['A', 'A › run', 'f'],
    ],
    ['a.go', 'package x\n\ntype S struct{}\n\nfunc (s *S) Start() error {\n\treturn nil\n}\n', ['', 'S, S.Start']],
    ['A.java', 'class A {\n  private int b(String x,\n      int y) {\n    return c(x);\n  }\n}\n', ['A', 'A › b']],
    [
      'a.rs',
      'impl Display for Foo {\n    fn fmt(&self) {\n        x()\n    }\n}\n',
      ['Display for Foo', 'Display for Foo › fmt'],
    ],
    ['a.cpp', 'int Bar::size(int a) const\n{\n  if (a) { return 2; }\n}\n', ['Bar::size']],
    [
      'a.cs',
      'namespace N\n{\n    public class C\n    {\n        public async Task<int> Run()\n        {\n        }\n    }\n}\n',
      ['N', 'N › C', 'N › C › Run'],
    ],
    ['a.rb', 'module M\n  class C\n    def run?\n    end\n  end\nend\n', ['M', 'M › C', 'M › C › run?']],
    ['a.php', '<?php\nclass C {\n    public function run() {\n    }\n}\n', ['', 'C', 'C › run']],
    ['a.kt', 'class C {\n    fun run(): Int {\n        return 1\n    }\n}\n', ['C', 'C › run']],
    ['a.swift', 'struct C {\n    func run() -> Int {\n        return 1\n    }\n}\n', ['C', 'C › run']],
    ['a.sh', 'set -e\nrun() {\n  echo 1\n}\n', ['', 'run']],
    ['a.sql', 'CREATE TABLE users (id int);\nCREATE VIEW old AS SELECT 1;\n', ['TABLE users, VIEW old']],
  ])('%s has sections by its symbols', async (name, text, paths) => {
    const document = await read(name, text)
    expect(document.elements.map(({ sectionPath }) => sectionPath.join(' › '))).toEqual(paths)
  })

  it('keeps its complete text', async () => {
    const document = await sample('store.py')
    const bare = (text: string): string => text.replace(/\s+/g, ' ').trim()
    expect(bare(document.text)).toBe(bare(SAMPLES['store.py'] ?? ''))
  })
})

describe('ruby text', () => {
  it('follows its base text in brackets, in HTML and flat OpenDocument', async () => {
    const page = await read('a.html', '<p>The <ruby>漢<rp>(</rp><rt>かん</rt>字<rt>じ</rt></ruby> of <b>it</b>.</p>')
    expect(page.text).toBe('The 漢字(かんじ) of it.')
    const flat = await sample('flat.fodt')
    expect([flat.title, flat.elements[1]?.text]).toEqual(['Flat tin', 'Words of 漢字(かんじ).'])
    expect(flat.items.some((item) => item.asset?.contentType === 'image/png')).toBe(true)
  })
})

describe('easily confused formats', () => {
  it.each([
    ['note.md', '<svg width="1"></svg>\n\n# Title\n\nWords.\n', 'text/markdown'],
    ['page.html', '<svg></svg><p>x</p>', 'text/html'],
    ['cards', SAMPLES['people.vcf'] ?? '', 'text/vcard'],
    ['plan', SAMPLES['team.ics'] ?? '', 'text/calendar'],
    ['syslog', 'May  1 10:00:00 host a\n'.repeat(6), 'text/x-log'],
    ['diary.txt', '2024-05-01 10:00 I woke.\n'.repeat(6), 'text/plain'],
    ['any.xml', '<?xml version="1.0"?><article><a>b</a></article>', 'application/xml'],
  ])('get the right media type for the file %s', async (name, text, type) => {
    expect((await read(name, text)).mediaType).toBe(type)
  })

  it('calendars, bibliographies and notebooks without content fail', async () => {
    expect((await failureOf(read('a.ics', 'BEGIN:VCALENDAR\nEND:VCALENDAR\n'))).message).toBe('a.ics has no events')
    expect((await failureOf(read('a.bib', 'nothing'))).code).toBe('empty')
    expect((await failureOf(read('a.ipynb', '{"cells": ['))).code).toBe('malformed')
  })
})
