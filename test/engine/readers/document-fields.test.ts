import { describe, expect, it } from 'vitest'
import { parseDocumentDate } from '../../../src/engine/readers/document-dates.js'
import { read } from './read.js'

const NOW = Date.UTC(2026, 0, 1)
const iso = (text: string): string | undefined => {
  const time = parseDocumentDate(text, NOW)
  return time === undefined ? undefined : new Date(time).toISOString()
}

describe('the date of a document', () => {
  it.each([
    ['2024-03-05', '2024-03-05T00:00:00.000Z'],
    ['2024-03', '2024-03-01T00:00:00.000Z'],
    ['2024-03-05T10:20:30+02:00', '2024-03-05T08:20:30.000Z'],
    ['2024-03-05 10:20', '2024-03-05T10:20:00.000Z'],
    ['2024-03-05T23:59:59.123456Z', '2024-03-05T23:59:59.000Z'],
    ["D:20240305102030-08'00'", '2024-03-05T18:20:30.000Z'],
    ['D:20240305', '2024-03-05T00:00:00.000Z'],
    ['Tue, 5 Mar 2024 10:20:30 -0500 (EST)', '2024-03-05T15:20:30.000Z'],
    ['5 March 2024', '2024-03-05T00:00:00.000Z'],
    ['March 5, 2024', '2024-03-05T00:00:00.000Z'],
  ])('can be written as %s', (text, instant) => expect(iso(text)).toBe(instant))

  it.each([
    '',
    'soon',
    '0000-00-00',
    '2024-13-01',
    '2023-02-30',
    '1900-01-01',
    '2099-12-31',
    '5 Foo 2024',
    '1.2.3',
    '2024-03-05T99:00',
    '9'.repeat(5000),
  ])('cannot be written as "%s"', (text) => expect(iso(text)).toBeUndefined())
})

describe('metadata of a document', () => {
  it('come from meta elements, JSON-LD and time elements of a web page, with JSON-LD before the others', async () => {
    const { metadata, title, language } = await read(
      'a.html',
      `<html><head><title>Bees | The Daily</title><meta property="og:title" content="Bees">
       <meta name="date" content="2001-01-01"><meta property="article:author" content="A. Roe"><meta property="article:author" content="B. Roe">
       <link rel="canonical" href="https://a.example/bees"><meta http-equiv="content-language" content="fr">
       <script type="application/ld+json">{"@graph":[{"@type":"WebSite","datePublished":"1999-01-01"},
         {"@type":["NewsArticle"],"datePublished":"2020-02-02T02:00:00+02:00","dateModified":"2021-01-01"}]}</script></head>
       <body><p>Bees build combs. <time itemprop="datePublished" datetime="2010-10-10">then</time></p></body></html>`,
    )
    expect([title, language]).toEqual(['Bees', 'fr'])
    expect(metadata).toEqual({
      documentDate: '2020-02-02T00:00:00.000Z',
      datePublished: '2020-02-02T00:00:00.000Z',
      dateModified: '2021-01-01T00:00:00.000Z',
      author: 'A. Roe, B. Roe',
      authors: ['A. Roe', 'B. Roe'],
      canonicalUrl: 'https://a.example/bees',
    })
  })

  it('exclude values of a web page that are no dates, no addresses or no JSON', async () => {
    const { metadata } = await read(
      'a.html',
      `<html><head><meta name="date" content="tomorrow"><link rel="canonical" href="javascript:alert(1)">
       <script type="application/ld+json">{"@type":"Article", "datePublished": </script>
       <script type="application/ld+json">${'['.repeat(20000)}</script></head><body><p>Bees build combs.</p></body></html>`,
    )
    expect(metadata).toEqual({})
  })

  it('come from the information group of an RTF file', async () => {
    const { metadata } = await read(
      'a.rtf',
      String.raw`{\rtf1\ansi{\info{\author Ida Keller}{\creatim\yr2018\mo3\dy5\hr10\min2}{\revtim\yr2019\mo12\dy31\hr23\min59}}Bees build combs.\par}`,
    )
    expect(metadata).toEqual({
      documentDate: '2019-12-31T23:59:00.000Z',
      dateModified: '2019-12-31T23:59:00.000Z',
      dateCreated: '2018-03-05T10:02:00.000Z',
      author: 'Ida Keller',
      authors: ['Ida Keller'],
    })
  })

  it('come from the headers of a mail and the front matter of a Markdown note', async () => {
    const mail = await read(
      'a.eml',
      'From: Ida Keller <ida@a.example>\r\nDate: Tue, 5 Mar 2024 10:20:30 -0500\r\nSubject: Bees\r\n\r\nBees build combs.\r\n',
    )
    expect(mail.metadata).toMatchObject({ documentDate: '2024-03-05T15:20:30.000Z', authors: ['Ida Keller'] })
    const note = await read(
      'a.md',
      '---\nDate: 2024-03-05\nupdated: 2024-04-01\nauthors: [{name: Ida}, Jo]\n---\nBees build combs.\n',
    )
    expect(note.metadata).toMatchObject({
      documentDate: '2024-03-05T00:00:00.000Z',
      dateModified: '2024-04-01T00:00:00.000Z',
      authors: ['Ida', 'Jo'],
    })
  })
})
