import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { EngineContext } from '../../../../src/engine/library/context.js'
import type { AdmittedQuery } from '../../../../src/engine/retrieval/query/admission.js'
import { retrieveDeep } from '../../../../src/engine/retrieval/query/deep.js'
import type { Retrieval } from '../../../../src/engine/retrieval/query/retrieval.js'
import type { SearchHit } from '../../../../src/engine/search/ports.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import { openSmallStore, passages, type SmallStore } from '../../../helpers/store.js'
import { admitted, finding, keysOf, never, publish, restrict, sharedBy } from './small-space.js'

const FOUND = 'Ada Keller leads the Orion Institute.'
const HOP = 'The Orion Institute was founded by Grace Miller in 1911.'
const FAR = 'Grace Miller was born in Brest.'
const OTHER = 'The sea is deep there.'

let store: SmallStore
let context: EngineContext
let space: SpaceRow
let keys: Map<string, number>
let first: { space: SpaceRow; keys: Map<string, number> }
let shared: ReturnType<typeof sharedBy>

async function another(): Promise<void> {
  space = store.createSpace()
  await publish(store, space, { 'a.md': passages(FOUND, OTHER), 'b.md': HOP, 'c.md': FAR })
  keys = keysOf(store, space)
}
beforeAll(async () => {
  store = await openSmallStore()
  context = { ...store.context }
  shared = sharedBy(context)
  await another()
  first = { space, keys }
})
afterAll(() => store.end())
beforeEach(() => {
  ;({ space, keys } = first)
  finding(store, () => [hit(FOUND, { bm25: 3 }), hit(OTHER, { bm25: 2 })])
})

const hit = (text: string, more: Partial<SearchHit> = {}): SearchHit => ({
  key: keys.get(text) ?? -1,
  bm25: 1,
  ...more,
})
const deep = (admitted: AdmittedQuery, query: string, more: Partial<Retrieval> = {}) =>
  retrieveDeep(
    { ...{ context, ...shared, admitted, query, activeEntityIds: [], signal: never, observer: {} }, ...more },
    { embedded: undefined },
  )
interface DeepOptions {
  query?: string
  profile?: object
  docs?: number[]
  active?: string[]
}
const ask = ({
  query = 'Who founded the institute that Ada Keller leads?',
  profile = {},
  docs,
  active = [],
}: DeepOptions = {}) =>
  deep({ ...admitted(store, space, { profile }), ...(docs ? { docs } : {}) }, query, { activeEntityIds: active })
const texts = ({ ranked }: Awaited<ReturnType<typeof ask>>) => ranked.map(({ passage }) => passage.body)
const by = ({ ranked }: Awaited<ReturnType<typeof ask>>, text: string) =>
  ranked.find(({ passage }) => passage.body === text)?.byGraph

describe('a query in mode deep', () => {
  it('finds passages by names shared with found passages, and reports them as second hops', async () => {
    const found = await ask()
    expect(texts(found)).toEqual(expect.arrayContaining([FOUND, HOP, OTHER]))
    expect(by(found, HOP)).toBe('second-hop')
    expect(found.metrics).toMatchObject({ graphPendingDocuments: 0, graphProjectionFilteredCount: 0 })
    expect(found.metrics.graphBridgeCount).toBeGreaterThan(0)
    expect(found.metrics.graphAddedCandidates).toBeGreaterThan(0)
    expect(found.degraded).toEqual([])
  })

  it('returns no passage through the graph that the reader may not read', async () => {
    await another()
    restrict(store, space, ['b.md'], 'eve')
    const found = await ask()
    expect(texts(found)).not.toContain(HOP)
  })

  it('returns only passages of the documents it is limited to', async () => {
    const [doc] = store.rows<{ key: number }>(
      "SELECT key FROM documents WHERE filename = 'a.md' AND space_key = ?",
      space.key,
    )
    expect(texts(await ask({ docs: [doc?.key ?? -1] }))).not.toContain(HOP)
  })

  it('returns no passage that was published after the snapshot of the query', async () => {
    await another()
    const early = admitted(store, space)
    await publish(store, space, { 'd.md': 'Orion Institute was founded by nobody, says Ada Keller.' })
    const found = await deep(early, 'Who founded the institute?')
    expect(texts(found).join()).not.toContain('nobody')
    expect(found.metrics.graphProjectionFilteredCount).toBeGreaterThan(0)
  })

  it('reports how many documents the graph does not cover yet', async () => {
    const derivations = { catchUp: async () => 3 } as never
    const found = await deep(admitted(store, space), 'Who?', { derivations })
    expect(found.degraded).toEqual([
      { part: 'graph', class: 'unavailable', reason: 'the graph of 3 documents is still being built' },
    ])
    expect(found.metrics).toMatchObject({ graphPendingDocuments: 3 })
  })

  it('reserves three of ten ranks for second hops, unless a rerank model scored them low', async () => {
    await another()
    // Enough better passages, so that the second hop would not rank high by its score.
    await publish(store, space, {
      'many.md': passages(...Array.from({ length: 9 }, (_, n) => `Keller leads and founded institute number ${n}.`)),
    })
    keys = keysOf(store, space)
    const many = [...keys.keys()].filter((text) => text.startsWith('Keller'))
    finding(store, () => [hit(FOUND, { bm25: 9 }), ...many.map((text, place) => hit(text, { bm25: 8 - place / 9 }))])
    const five = await ask({ profile: { topK: 5 } })
    expect(five.ranked).toHaveLength(5)
    expect(texts(five).at(-1)).toBe(HOP)
    // Three in ten: none at topK 3.
    const three = await ask({ profile: { topK: 3 } })
    expect(texts(three)).not.toContain(HOP)
    // Its score fits its rank.
    const finals = five.ranked.map(({ final }) => final)
    expect(finals).toEqual([...finals].sort((a, b) => b - a))
    // A rerank model that compared it decides alone.
    const model = { pluginId: 'openai-compatible', provider: 'local', model: 'cross' }
    const plain = context.models
    const rerank = async (_: string, documents: string[]) =>
      documents.map((text) => (text.includes('founded by') ? 0 : 0.9))
    context.models = { ...plain, reranker: () => ({ rerank }) } as never
    expect(texts(await ask({ profile: { topK: 5, rerank: { enabled: true, model } } }))).not.toContain(HOP)
    context.models = plain
  })

  it('raises the score of passages that mention an active entity of the request', async () => {
    finding(store, () => [hit(FOUND, { bm25: 3 }), hit(FAR, { bm25: 2.9 })])
    const plain = await ask({ query: 'Grace Ada' })
    const entities = store.rows<{ id: string; name: string }>(
      'SELECT * FROM graph_entities WHERE space_key = ?',
      space.key,
    )
    const grace = entities.find((one) => Object.values(one).includes('Grace Miller'))
    const active = await ask({ query: 'Grace Ada', active: [grace?.id ?? ''] })
    const final = (found: typeof plain, text: string) =>
      found.ranked.find(({ passage }) => passage.body === text)?.final ?? 0
    expect(final(active, FAR)).toBeCloseTo(Math.min(1, 1.35 * final(plain, FAR)), 10)
    expect(final(active, FOUND)).toBeCloseTo(final(plain, FOUND), 10)
    const finals = active.ranked.map((one) => one.final)
    expect(finals).toEqual([...finals].sort((a, b) => b - a))
  })

  it('finds passages through the graph if text and vector search find none', async () => {
    finding(store, () => [])
    const found = await ask({ query: 'Ada Keller' })
    expect(texts(found)).toContain(FOUND)
    expect(by(found, FOUND)).toBe('graph')
  })
})
