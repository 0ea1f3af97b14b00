import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ExplainBody } from '../../../../src/contract/gateway/explain.js'
import type { EvidenceBundle, EvidenceItem } from '../../../../src/contract/gateway/queries.js'
import { ADA, ask, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'

const FILES = {
  'parking.md': '# Parking\n\nParking in the garage costs two euros an hour.\n',
  'pool.md': '# Pool\n\nThe pool opens at seven, except on Mondays.\n',
  'canteen.md': '# Canteen\n\nThe canteen serves soup with bread at noon.\n',
  'garden.md': '# Garden\n\nRoses and beans grow behind the greenhouse.\n',
  'tickets.md': '# Tickets\n\nTickets are sold at the window beside the entrance.\n',
  'lift.md':
    '# Lift\n\nEvery spring an inspector comes and looks at ropes, doors, buttons and lamps, first in the tower and then in the garage.\n',
  'roof.md':
    '# Roof\n\nSolar panels on the roof give forty kilowatts when the sky is clear, which is enough for kitchen, laundry and garage.\n',
}
const QUESTION = 'How much does parking in the garage cost?'

let test: TestEngine
let spaceId: string

beforeAll(async () => {
  test = await startEngine()
  spaceId = (await test.engine.spaces.create(ADA, { name: 'House', slug: 'house' })).id
  await ingest(test.engine, ADA, spaceId, FILES)
})
afterAll(() => test.end())

const setTopK = (topK: number) =>
  test.engine.spaces.setRetrievalProfile(ADA, spaceId, {
    defaultMode: 'fast',
    modes: ['fast', 'deep', 'research'],
    topK,
    scoreThreshold: 0,
    rerank: { enabled: true },
  })
async function itemsFor(query: string, mode: 'fast' | 'deep' | 'research' = 'fast'): Promise<EvidenceItem[]> {
  const { done } = await ask(test.engine, ADA, spaceId, query, { mode })
  return (done.metadata as { evidenceBundle: EvidenceBundle }).evidenceBundle.items
}
const filesOf = (items: readonly { metadata: Record<string, unknown> }[]) =>
  items.map(({ metadata }) => String(metadata.filename))

describe('the evidence of a query', () => {
  it.each(['fast', 'deep'] as const)('stops after the last relevant passage in mode %s', async (mode) => {
    expect(filesOf(await itemsFor(QUESTION, mode))).toEqual(['parking.md'])
  })

  it('contains a passage for each part of a question, however much their scores differ', async () => {
    const files = filesOf(await itemsFor('How much does parking in the garage cost, and when does the pool open?'))
    expect(files).toEqual(expect.arrayContaining(['parking.md', 'pool.md']))
    expect(files).not.toContain('garden.md')
  })

  it('contains a passage if anything was found, however irrelevant', async () => {
    expect(await itemsFor('Which composer wrote about beans?')).not.toEqual([])
  })

  it('fills topK if the profile sets it above the default', async () => {
    await setTopK(20)
    expect((await itemsFor(QUESTION)).length).toBeGreaterThan(1)
    await setTopK(10)
  })

  it('omits passages that a search lists, and their explanation reports beyond-relevance', async () => {
    const found = await test.engine.queries.search(ADA, spaceId, {
      query: QUESTION,
      limit: 10,
      activeDocumentIds: [],
      activeEntityIds: [],
    })
    expect(filesOf(found.items)[0]).toBe('parking.md')
    expect(filesOf(found.items)).toContain('lift.md')
    const asked = ExplainBody.parse({ query: QUESTION, path: 'lift.md' })
    const explained = await test.engine.queries.explain(ADA, spaceId, asked)
    expect(explained.verdict).toBe('beyond-relevance')
  })

  it('states for each passage why it was selected', async () => {
    const [parking, pool] = await itemsFor('How much does parking cost, and when does the pool open?').then((items) =>
      ['parking.md', 'pool.md'].map((name) => items.find(({ metadata }) => metadata.filename === name)),
    )
    expect(parking?.metadata.why).toMatchObject({ words: ['parking', 'cost'] })
    expect(pool?.metadata.why).toMatchObject({ words: ['pool', 'open'], adds: ['pool', 'open'] })
    for (const item of [parking, pool]) {
      const { by, confidence } = (item?.metadata.why ?? {}) as { by?: string; confidence?: number }
      expect(['words', 'words-and-meaning']).toContain(by)
      expect(confidence).toBeGreaterThan(0)
      expect(confidence).toBeLessThanOrEqual(1)
    }
    const [page] = await itemsFor(QUESTION, 'research')
    expect(page?.metadata.why).toMatchObject({ by: 'sections', words: ['parking', 'garage', 'cost'] })
  })
})
