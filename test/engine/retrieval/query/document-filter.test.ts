import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DocumentFilter } from '../../../../src/contract/gateway/document-filter.js'
import { ADA, ask, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'

const page = (date: string, text: string, more = '') =>
  `<html lang="en"><head><title>Prices</title><meta property="article:published_time" content="${date}">${more}</head>
   <body><h1>Prices</h1><p>${text}</p></body></html>`

let test: TestEngine
let space: string
beforeAll(async () => {
  test = await startEngine()
  space = (await test.engine.spaces.create(ADA, { name: 'Prices', slug: 'prices' })).id
  await ingest(test.engine, ADA, space, {
    'old.html': page('2019-03-01', 'The price of parking in the yard is 3 euros a day.'),
    'new.html': page(
      '2024-06-30T23:30:00+02:00',
      'The price of parking in the yard is 5 euros a day.',
      '<meta name="author" content="Ida Keller">',
    ),
    'mail.eml':
      'From: "Jo Berg" <jo@a.example>\r\nDate: Mon, 1 Jul 2024 00:30:00 +0200\r\nSubject: Parking\r\n\r\nThe price of parking in the yard will be 6 euros a day.\r\n',
    'note.md':
      '---\ndate: 2022-05-05\nlang: de\nauthor: Émile Roy\n---\n# Parking\n\nThe price of parking in the yard was 4 euros a day.\n',
    'undated.md': '# Parking\n\nThe price of parking in the yard has no date here.\n',
    'clock.html': page('2099-01-01', 'The price of parking in the yard in the year of a broken clock.'),
  })
})
afterAll(() => test.end())

it('a passage scores higher when a filter selects its document than in a search of all documents', async () => {
  const { id } = await test.engine.spaces.create(ADA, { name: 'Yards', slug: 'yards' })
  const notes = Array.from({ length: 80 }, (_, index) => [`n${index}.md`, `# Yard ${index}\n\nThe yard has a gate.\n`])
  await ingest(test.engine, ADA, id, {
    ...Object.fromEntries(notes),
    'lease.html': page('2024-01-01', 'The lease of the yard ends in May.'),
  })
  const question = 'When does the lease of the yard stop?'
  const [all, one] = [
    await ask(test.engine, ADA, id, question),
    await ask(test.engine, ADA, id, question, { filter: { dateFrom: '2024-01-01', dateTo: '2024-01-01' } }),
  ]
  expect(Number(one.done.metadata?.topScore)).toBeGreaterThan(Number(all.done.metadata?.topScore))
})

const found = async (filter?: DocumentFilter, mode: 'fast' | 'deep' | 'research' = 'fast') => {
  const asked = await ask(test.engine, ADA, space, 'What is the price of parking in the yard?', {
    mode,
    ...(filter && { filter }),
  })
  expect(asked.error).toBeUndefined()
  const items = asked.done.metadata?.evidenceBundle?.items ?? []
  return [...new Set(items.map(({ metadata }) => String(metadata.filename)))].sort()
}

describe('the declared metadata of documents', () => {
  it('limit no query without a filter', async () => {
    expect(await found()).toHaveLength(6)
  })

  it('can be filtered by date in every mode, and a date filter selects no document without a date', async () => {
    for (const mode of ['fast', 'deep', 'research'] as const) {
      expect(await found({ dateFrom: '2022-01-01' }, mode)).toEqual(['mail.eml', 'new.html', 'note.md'])
      expect(await found({ dateTo: '2022-05-05' }, mode)).toEqual(['note.md', 'old.html'])
      expect(await found({ dateFrom: '2030-01-01' }, mode)).toEqual([])
    }
  })

  it('can be filtered by dates in different time zones', async () => {
    expect(await found({ dateFrom: '2024-06-30T22:00:00Z' })).toEqual(['mail.eml'])
    expect(await found({ dateFrom: '2024-06-30', dateTo: '2024-06-30' })).toEqual(['mail.eml', 'new.html'])
  })

  it('can be filtered by author and language', async () => {
    expect(await found({ author: 'keller' })).toEqual(['new.html'])
    expect(await found({ author: 'ÉMILE' })).toEqual(['note.md'])
    expect(await found({ language: 'de' })).toEqual(['note.md'])
    expect(await found({ language: 'en', dateTo: '2020-01-01' })).toEqual(['old.html'])
  })

  it('can be filtered in a search without an answer, together with the ids of documents', async () => {
    const { items } = await test.engine.documents.list(ADA, space, { limit: 10 })
    const ids = items.filter(({ filename }) => filename !== 'mail.eml').map(({ id }) => id)
    const body = { query: 'price of parking', limit: 10, activeDocumentIds: ids, activeEntityIds: [] }
    const search = await test.engine.queries.search(ADA, space, { ...body, filter: { dateFrom: '2024-01-01' } })
    expect(search.items.map(({ metadata }) => [metadata.filename, metadata.documentDate])).toEqual([
      ['new.html', '2024-06-30T21:30:00.000Z'],
    ])
  })

  it('determine the freshness of a document by its declared date', async () => {
    const search = await test.engine.queries.search(ADA, space, {
      query: 'price of parking',
      limit: 10,
      activeDocumentIds: [],
      activeEntityIds: [],
    })
    const score = new Map(search.items.map(({ metadata, scores }) => [metadata.filename, scores.freshness ?? 0]))
    expect(score.get('old.html')).toBeLessThan(0.05)
    expect(score.get('note.md')).toBeGreaterThan(score.get('old.html') ?? 1)
    expect(score.get('undated.md')).toBeGreaterThan(0.99)
    expect(score.get('clock.html')).toBeGreaterThan(0.99)
  })

  it('appear in the metadata of a document and in the virtual file system', async () => {
    const { items } = await test.engine.documents.list(ADA, space, { limit: 10 })
    const id = items.find(({ filename }) => filename === 'new.html')?.id ?? ''
    const { metadata } = await test.engine.documents.get(ADA, space, id)
    expect(metadata).toMatchObject({
      title: 'Prices',
      documentDate: '2024-06-30T21:30:00.000Z',
      datePublished: '2024-06-30T21:30:00.000Z',
      authors: ['Ida Keller'],
      language: 'en',
    })
    const listing = await test.engine.fs.find(ADA, space, {
      path: '/sources',
      limit: 10,
      metadataKey: 'documentDate',
      metadataValue: '2022-05-05T00:00:00.000Z',
      resourceType: 'document',
    })
    expect(listing.items.map(({ metadata }) => [metadata.filename, metadata.author])).toEqual([
      ['note.md', 'Émile Roy'],
    ])
  })
})
