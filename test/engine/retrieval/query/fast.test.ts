import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { PassageCache } from '../../../../src/engine/knowledge/derived/passage.js'
import type { EngineContext } from '../../../../src/engine/library/context.js'
import type { AdmittedQuery } from '../../../../src/engine/retrieval/query/admission.js'
import { embedForFast, type GraphStage, retrieveFast } from '../../../../src/engine/retrieval/query/fast.js'
import type { FastSearchRecord, QueryEmbedding } from '../../../../src/engine/retrieval/query/retrieval.js'
import type { SearchHit } from '../../../../src/engine/search/ports.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import { openSmallStore, PROVIDED, passages, type SmallStore } from '../../../helpers/store.js'
import { admitted, finding, keysOf, model, never, publish, restrict } from './small-space.js'

const LAMP = 'The lamp of Brest is lit at night.'
const IRON = 'The iron lamp of Lyon was made there.'
const KEEPER = 'A keeper sleeps in the tower.'

let store: SmallStore
let context: EngineContext
let space: SpaceRow
let keys: Map<string, number>
beforeAll(async () => {
  store = await openSmallStore()
  await another()
})
afterAll(() => store.end())
beforeEach(() => {
  context = { ...store.context }
})

/** Creates a separate space for tests that change it. */
async function another(more: Record<string, string> = {}, model?: typeof PROVIDED): Promise<void> {
  space = store.createSpace(model && { model })
  await publish(store, space, { 'a.md': passages(LAMP, KEEPER), 'b.md': IRON, ...more })
  keys = keysOf(store, space)
}

const hit = (text: string, more: Partial<SearchHit> = {}): SearchHit => ({
  key: keys.get(text) ?? -1,
  bm25: 1,
  ...more,
})
const PLAIN: QueryEmbedding = { embedded: undefined }

interface FastOptions {
  query?: string
  profile?: object
  embedding?: QueryEmbedding
  observe?: (record: FastSearchRecord) => void
  expand?: Parameters<typeof retrieveFast>[2]
  docs?: number[]
}
const ask = ({ query = 'lamp of Brest', profile = {}, embedding = PLAIN, observe, expand, docs }: FastOptions = {}) =>
  retrieveFast(
    {
      ...{
        context,
        cache: new PassageCache(),
        query,
        signal: never,
        observer: { ...(observe && { onSearch: observe }) },
      },
      admitted: { ...admitted(store, space, { profile }), ...(docs ? { docs } : {}) },
    },
    ...([embedding, expand] as const),
  )
const embed = (admitted: AdmittedQuery, signal = never) => embedForFast({ context, admitted, query: 'lamp', signal })
const texts = ({ ranked }: Awaited<ReturnType<typeof ask>>) => ranked.map(({ passage }) => passage.body)

describe('a retrieval in mode fast', () => {
  it('sends the terms of the question to the indexes, and ranks the best match first', async () => {
    const asked = finding(store, () => [hit(IRON, { bm25: 3 }), hit(LAMP, { bm25: 2.9 }), hit(KEEPER, { bm25: 1 })])
    const found = await ask()
    expect(asked).toMatchObject([
      { terms: ['lamp', 'brest'], textK: 200, vectorK: 200, compounds: {}, seq: admitted(store, space).seq },
    ])
    for (const name of ['vector', 'vectorSpace', 'wantsBackground', 'docs']) expect(asked[0]).not.toHaveProperty(name)
    expect(texts(found)).toEqual([LAMP, IRON, KEEPER])
    expect(found.terms).toEqual(['lamp', 'brest'])
    expect(found.ranked.map(({ containedTerms }) => containedTerms)).toEqual([['lamp', 'brest'], ['lamp'], []])
    expect(found.degraded).toEqual([])
    expect(found).not.toHaveProperty('withheld')
    expect(found.ranked[0]).not.toHaveProperty('byGraph')
  })

  it('returns at most topK passages, and none below the score threshold of the profile', async () => {
    finding(store, () => [hit(LAMP, { bm25: 3 }), hit(IRON, { bm25: 2 }), hit(KEEPER, { bm25: 0.1 })])
    const all = await ask()
    expect(texts(await ask({ profile: { topK: 2 } }))).toEqual(texts(all).slice(0, 2))
    const threshold = all.ranked[1]?.final ?? 1
    const some = await ask({ profile: { scoreThreshold: threshold } })
    expect(some.ranked.map(({ final }) => final)).toEqual(all.ranked.map(({ final }) => final).slice(0, 2))
    expect(some.metrics).toMatchObject({ scoreThresholdFilteredCount: 1, finalCandidateCount: 2 })
    expect(all.metrics).toMatchObject({ scoreThresholdFilteredCount: 0, finalCandidateCount: 3 })
  })

  it('returns the counts and durations of its stages as metrics', async () => {
    finding(store, () => ({
      ...{ hits: [hit(LAMP), hit(IRON), { key: 9999, bm25: 1 }], textCount: 3, vectorCount: 4, textMs: 1.2345 },
      ...{ vectorMs: 2.3456, vectorMethod: 'hnsw', textEngine: 'tantivy' },
    }))
    const { metrics } = await ask()
    expect(metrics).toMatchObject({
      ...{ ftsCandidateCount: 3, denseCandidateCount: 4, ftsMs: 1.23, denseMs: 2.35, denseMethod: 'hnsw' },
      ...{ ftsEngine: 'tantivy', fusionCandidateCount: 2, projectionFilteredCount: 1, permissionFilteredCount: 0 },
      ...{ rerankCandidateCount: 2, rerankMethod: 'builtin', tableCandidateCount: 0, metadataFilteredCount: 0 },
      ...{ multimodalCandidateCount: 0, imageCandidateCount: 0, visualCandidateCount: 0 },
      ...{ totalMs: expect.any(Number), fusionAndRerankMs: expect.any(Number) },
    })
    expect(metrics).not.toHaveProperty('rerankMs')
    expect(metrics).not.toHaveProperty('denseBackground')
    expect((await ask({ profile: { rerank: { enabled: false } } })).metrics).toMatchObject({
      ...{ rerankCandidateCount: 0, rerankMethod: 'none' },
    })
  })

  it('weighs terms by the number of passages that contain them', async () => {
    finding(store, () => ({ hits: [hit(LAMP)], textCount: 1, frequencies: new Map([['lamp', 2]]) }))
    const { idf, statistics } = await ask()
    expect(idf('lamp')).toBeCloseTo(Math.log(1 + 28.5 / 2.5), 10)
    expect(idf('brest')).toBeCloseTo(Math.log(1 + 30.5 / 0.5), 10)
    expect(statistics).toMatchObject({ nodes: 3 })
    expect(statistics).not.toHaveProperty('byRerank')
  })

  it('reports hits and ranking to an observer', async () => {
    const found = [hit(LAMP), { key: 9999, bm25: 1 }, hit(KEEPER, { bm25: 0.5 })]
    finding(store, () => found)
    const records: FastSearchRecord[] = []
    await ask({ profile: { topK: 1 }, observe: (record) => records.push(record) })
    expect(records).toHaveLength(1)
    expect(records[0]).toMatchObject({ found: { hits: found }, hits: [found[0], found[2]] })
    expect(records[0]?.ranked.map(({ key }) => key)).toEqual([keys.get(LAMP), keys.get(KEEPER)])
    expect(records[0]?.compared).toHaveLength(2)
    expect(records[0]).not.toHaveProperty('model')
  })

  it('limits the search of the indexes to the documents of the query', async () => {
    const asked = finding(store, () => [])
    await ask({ docs: [7] })
    expect(asked[0]?.docs).toEqual([7])
  })

  it('reports degraded indexes, a failed embedding and missing vectors as degradations', async () => {
    finding(store, () => ({ hits: [hit(LAMP)], degraded: ['the text index is being rebuilt'] }))
    const degraded = { part: 'embedding', class: 'timeout', reason: 'no vector' } as const
    context.vectors = { ...context.vectors, missing: async () => ({ passages: 1, class: 'auth' }) }
    expect((await ask({ embedding: { embedded: undefined, degraded } })).degraded).toEqual([
      { part: 'text-index', class: 'unavailable', reason: 'the text index is being rebuilt' },
      degraded,
      { part: 'vectors', class: 'auth', reason: 'vectors of 1 passage are missing' },
    ])
    context.vectors = { ...context.vectors, missing: async () => ({ passages: 2, class: undefined }) }
    expect((await ask()).degraded.at(-1)).toEqual({
      ...{ part: 'vectors', class: 'unavailable', reason: 'vectors of 2 passages are missing' },
    })
  })

  it('returns no passage of a document that was deleted after the search of the indexes', async () => {
    await another()
    finding(store, () => [hit(LAMP), hit(IRON)])
    store.run("UPDATE documents SET deleted_at = 1 WHERE filename = 'b.md' AND space_key = ?", space.key)
    expect(texts(await ask())).toEqual([LAMP])
  })

  it('counts a term of the question as contained in a passage with a rewording of the term', async () => {
    const rewordings = [{ queryTerms: ['lamp', 'glass'], documentTerms: ['lampglass'] }]
    await another({ 'c.md': 'The lampglass is old.' })
    finding(store, () => ({ hits: [hit('The lampglass is old.')], rewordings: rewordings as never }))
    const found = await ask({ query: 'glass lamp' })
    expect(found.ranked[0]?.containedTerms).toEqual(['glass', 'lamp'])
    expect(found.rewordings).toEqual(rewordings)
  })
})

describe('a retrieval for a reader with limited permissions', () => {
  it('searches, counts and weighs only documents that the reader may read', async () => {
    await another()
    restrict(store, space, ['a.md'], 'eve')
    const asked = finding(store, () => ({
      hits: [hit(LAMP, { bm25: 3 }), hit(IRON, { bm25: 1 })],
      frequencies: new Map([['lamp', 1]]),
    }))
    const found = await ask()
    expect(asked.map(({ scope }) => scope?.isExcluded)).toEqual([true])
    expect(texts(found)).toEqual([IRON])
    expect(found).not.toHaveProperty('withheld')
    expect(found.metrics).toMatchObject({
      permissionFilteredCount: 0,
      fusionCandidateCount: 1,
      projectionFilteredCount: 0,
    })
    expect(found.metrics).toMatchObject({ ftsCandidateCount: 1 })
    // one node of three
    expect(found.statistics.nodes).toBe(1)
    expect(found.idf('lamp')).toBeCloseTo(Math.log(1 + 29.5 / 1.5), 10)
  })

  it('sends no scope to the indexes if the reader may read all documents', async () => {
    await another()
    restrict(store, space, ['a.md'], 'ada')
    const asked = finding(store, () => [hit(LAMP)])
    await ask()
    expect(asked).toHaveLength(1)
    expect(asked[0]).not.toHaveProperty('scope')
  })
})

describe('a retrieval with vectors', () => {
  const VECTOR = Float32Array.of(1, 0)
  const embedding = { embedded: { vector: VECTOR, vectorSpaceId: 'v', dimension: 2 } }

  it('searches by vector, with background statistics if the embedding model comes from a provider', async () => {
    const asked = finding(store, () => [hit(LAMP, { cosine: 0.9 })])
    await ask({ embedding })
    expect(asked[0]).toMatchObject({ vector: VECTOR, vectorSpace: 'v', wantsBackground: false })
    await another({}, PROVIDED)
    const background = { middle: 0.123456, spread: 0.0123456, samples: 9 }
    const provided = finding(store, () => ({
      hits: [hit(LAMP, { cosine: 0.9 }), hit(IRON, { cosine: 0.1 })],
      background,
    }))
    const found = await ask({ embedding })
    expect(provided[0]).toMatchObject({ wantsBackground: true })
    expect(found.metrics).toMatchObject({ denseBackground: { middle: 0.1235, spread: 0.0123, samples: 9 } })
    expect(found.statistics.byVectors).toBeGreaterThan(0.9)
  })

  it('compares passages with the best passage if the embedding model is trained on the space', async () => {
    await another()
    model(store, space)
    await publish(store, space, { 'c.md': passages('An iron ship.', 'Another iron gate here.') })
    keys = keysOf(store, space)
    const vectorSpaceId = store.reload(space).vector_space
    const hits = () => [hit(LAMP, { bm25: 2 }), hit('An iron ship.'), hit('Another iron gate here.')]
    const likeness = async (more: QueryEmbedding) => {
      finding(store, hits)
      const records: FastSearchRecord[] = []
      await ask({ query: 'iron lamp glass', embedding: more, observe: (record) => records.push(record) })
      return records[0]?.compared.map((one) => one.likeness) ?? []
    }
    expect(await likeness(PLAIN)).toEqual([0, 0, 0])
    expect(Math.max(...(await likeness({ embedded: { ...embedding.embedded, vectorSpaceId } })))).toBeGreaterThan(0)
  })

  it('embeds the question, and continues without a vector if the embedding fails', async () => {
    await another()
    expect(await embed(admitted(store, space))).toEqual({ embedded: undefined })
    model(store, space)
    const at = admitted(store, space)
    store.embed = () => [VECTOR]
    expect(await embed(at)).toEqual({
      embedded: { vector: VECTOR, vectorSpaceId: at.space.vector_space, dimension: 2 },
    })
    store.embed = () => {
      throw new Error('off')
    }
    expect(await embed(at)).toEqual({
      embedded: undefined,
      degraded: {
        part: 'embedding',
        class: 'unavailable',
        reason: 'the question could not be embedded: an unexpected failure',
      },
    })
    const gone = new AbortController()
    gone.abort(new Error('gone'))
    await expect(embed(at, gone.signal)).rejects.toThrow('gone')
  })
})

describe('a retrieval with graph expansion', () => {
  it('ranks hits of the graph with other hits, marks their origin, and lets the expansion reorder all', async () => {
    finding(store, () => [hit(LAMP, { bm25: 2 })])
    const given: unknown[] = []
    const expand = async (hits: SearchHit[], asked: { terms: readonly string[] }): Promise<GraphStage> => {
      given.push(hits, asked.terms)
      return {
        hits: [...hits, hit(KEEPER, { bm25: 0.5 })],
        reorder: (ranked, byModel) => (byModel ? ranked : [...ranked].reverse()),
        reached: new Map([[keys.get(KEEPER) ?? -1, 'second-hop']]),
        metrics: { graphAddedCandidates: 1 },
      }
    }
    const found = await ask({ expand })
    expect(given).toEqual([[hit(LAMP, { bm25: 2 })], ['lamp', 'brest']])
    expect(texts(found)).toEqual([KEEPER, LAMP])
    expect(found.ranked.map(({ byGraph }) => byGraph)).toEqual(['second-hop', undefined])
    expect(found.metrics).toMatchObject({ graphAddedCandidates: 1, fusionCandidateCount: 1, rerankCandidateCount: 2 })
  })
})

describe('a retrieval with a rerank model', () => {
  const reranker = { pluginId: 'openai-compatible', provider: 'local', model: 'cross' }
  const profile = { rerank: { enabled: true, model: reranker } }
  const scored = (scores: number[] | Error) => {
    const rerank = async () => {
      if (scores instanceof Error) throw scores
      return scores
    }
    context.models = { ...context.models, reranker: () => ({ rerank }) } as never
  }

  it('uses the order and relevance of the model, and the built-in order if the model fails', async () => {
    finding(store, () => [hit(LAMP, { bm25: 3 }), hit(IRON, { bm25: 2 }), hit(KEEPER)])
    scored([0.1, 0.95, 0.05])
    const found = await ask()
    expect(found.metrics.rerankMethod).toBe('builtin')
    const byModel = await ask({ profile })
    expect(byModel.metrics).toMatchObject({
      ...{ rerankMethod: 'model', rerankModel: reranker, rerankCandidateCount: 3, rerankMs: expect.any(Number) },
    })
    expect(texts(byModel)[0]).toBe(texts(found)[1])
    expect(byModel.statistics.byRerank).toBe(0.95)
    scored(new Error('off'))
    const failed = await ask({ profile })
    expect(failed.metrics).toMatchObject({
      rerankMethod: 'builtin',
      rerankMs: expect.any(Number),
      rerankCandidateCount: 3,
    })
    expect(failed.degraded).toMatchObject([{ part: 'rerank' }])
    expect(texts(failed)).toEqual(texts(found))
  })
})
