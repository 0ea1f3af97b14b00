import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { KsError } from '../../../../src/contract/errors.js'
import type { EngineContext } from '../../../../src/engine/library/context.js'
import { rerankByModel } from '../../../../src/engine/retrieval/query/model-rerank.js'
import { MAX_RERANK_CANDIDATES, type RankedCandidate } from '../../../../src/engine/retrieval/query/rank.js'
import type { PassageRow } from '../../../../src/engine/store/rows/queries.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import { openSmallStore, type SmallStore } from '../../../helpers/store.js'
import { admitted, MODEL, never } from './small-space.js'

let store: SmallStore
let space: SpaceRow
let context: EngineContext
beforeAll(async () => {
  store = await openSmallStore()
  space = store.createSpace()
})
afterAll(() => store.end())
beforeEach(() => {
  context = { ...store.context }
})

const ranked = (...finals: number[]): RankedCandidate[] =>
  finals.map((final, place) => ({ key: place + 1, final, retrieval: final }) as RankedCandidate)
const passage = (key: number, title = `T${key}`, body = `Body ${key}.`) => ({ key, title, body }) as PassageRow
const of = (count: number) => new Map(Array.from({ length: count }, (_, n) => [n + 1, passage(n + 1)]))

/** Makes the model return these scores or throw. @returns the requests that it receives */
function scoring(scores: (number | undefined)[] | Error) {
  const asked: { query: string; texts: string[]; reference: object }[] = []
  context.models = {
    ...context.models,
    reranker: (reference: object) => ({
      rerank: async (query: string, texts: string[]) => {
        asked.push({ query, texts, reference })
        if (scores instanceof Error) throw scores
        return scores
      },
    }),
  } as never
  return asked
}
interface RerankOptions {
  rerank?: object
  query?: string
  passages?: Map<number, PassageRow>
  signal?: AbortSignal
}
const rerank = (
  list: RankedCandidate[],
  { rerank: more = {}, query = 'Q?', passages = of(list.length), signal = never }: RerankOptions = {},
) => {
  const profile = { rerank: { enabled: true, model: MODEL, ...more } }
  return rerankByModel({ context, admitted: admitted(store, space, { profile }), query, signal }, list, passages)
}

describe('the order of passages by a rerank model', () => {
  it('follows the scores of the model, with final scores in proportion to them', async () => {
    const asked = scoring([0.2, 0.8, 0.4])
    const found = await rerank(ranked(0.9, 0.6, 0.3))
    expect(asked).toEqual([{ query: 'Q?', texts: ['T1\nBody 1.', 'T2\nBody 2.', 'T3\nBody 3.'], reference: MODEL }])
    expect(found.ranked.map(({ key }) => key)).toEqual([2, 3, 1])
    expect(found.ranked.map((one) => one.rerank)).toEqual([0.8, 0.4, 0.2])
    const best = found.ranked[0]?.final ?? 0
    expect(best).toBeCloseTo(0.9, 10)
    expect(found.ranked.map(({ final }) => final / best)).toEqual(
      [1, 0.5, 0.25].map((share) => expect.closeTo(share, 10)),
    )
    expect(found.used).toEqual({ model: MODEL, compared: 3 })
    expect(found.relevance).toBe(0.8)
    expect(found).not.toHaveProperty('degraded')
  })

  it('comes without a relevance if the model scores all passages equally', async () => {
    scoring([0.5, 0.5])
    const found = await rerank(ranked(0.9, 0.6))
    expect(found).not.toHaveProperty('relevance')
    // Equal scores keep the order.
    expect(found.ranked.map(({ key }) => key)).toEqual([1, 2])
    expect(found.ranked.map(({ final }) => final)).toEqual([found.ranked[0]?.final, found.ranked[0]?.final])
  })

  it('stays the same if all scores of the model are 0', async () => {
    scoring([0, 0])
    const { ranked: list } = await rerank(ranked(0.9, 0.6))
    expect(list.map(({ key }) => key)).toEqual([1, 2])
    expect(list[0]?.final).toBe(list[1]?.final)
    expect(list[0]?.final).toBeGreaterThan(0)
  })

  it('covers the first passages of many; the other passages keep their order below them', async () => {
    const count = MAX_RERANK_CANDIDATES + 3
    const before = ranked(...Array.from({ length: count }, (_, n) => (count - n) / count))
    const asked = scoring(Array.from({ length: MAX_RERANK_CANDIDATES }, (_, n) => 0.1 + n / 100))
    const found = await rerank(before)
    expect(asked[0]?.texts).toHaveLength(MAX_RERANK_CANDIDATES)
    expect(found.used?.compared).toBe(MAX_RERANK_CANDIDATES)
    expect(found.ranked.map(({ key }) => key)).toEqual([
      ...Array.from({ length: MAX_RERANK_CANDIDATES }, (_, n) => MAX_RERANK_CANDIDATES - n),
      ...[MAX_RERANK_CANDIDATES + 1, MAX_RERANK_CANDIDATES + 2, MAX_RERANK_CANDIDATES + 3],
    ])
    const finals = found.ranked.map(({ final }) => final)
    const lowest = finals[MAX_RERANK_CANDIDATES - 1] ?? 0
    const rest = before.slice(MAX_RERANK_CANDIDATES).map(({ final }) => final)
    expect(finals.slice(MAX_RERANK_CANDIDATES)).toEqual(
      rest.map((final) => expect.closeTo((lowest * final) / (rest[0] ?? 1), 10)),
    )
    expect(found.ranked.at(-1)).not.toHaveProperty('rerank')
  })

  it('omits deleted passages from the request to the model', async () => {
    const asked = scoring([0.9])
    const found = await rerank(ranked(0.9, 0.6), { passages: new Map([[2, passage(2)]]) })
    expect(asked[0]?.texts).toEqual(['T2\nBody 2.'])
    expect(found.ranked.map(({ key }) => key)).toEqual([2, 1])
    expect(found.used?.compared).toBe(1)
    expect(await rerank(ranked(0.9), { passages: new Map() })).toEqual({ ranked: ranked(0.9) })
    expect(asked).toHaveLength(1)
  })

  it('counts a missing score of the model as 0', async () => {
    scoring([0.5])
    const found = await rerank(ranked(0.9, 0.6, 0))
    expect(found.ranked.map((one) => one.rerank)).toEqual([0.5, 0, 0])
    scoring([0.5])
    const rest = await rerank(ranked(0, 0), { passages: of(1) })
    expect(rest.ranked[1]?.final).toBe(0)
  })

  it('truncates long texts and queries without a lone surrogate at the end', async () => {
    const asked = scoring([0.5])
    const long = `${'x'.repeat(3997)}😀${'y'.repeat(100)}`
    await rerank(ranked(0.9), { query: `${'q'.repeat(1999)}😀 more`, passages: new Map([[1, passage(1, 'T', long)]]) })
    expect(asked[0]?.texts[0]).toBe(`T\n${'x'.repeat(3997)}�`)
    expect(asked[0]?.query).toBe(`${'q'.repeat(1999)}�`)
  })

  it('needs no model call if the profile names no model or disables reranking', async () => {
    const asked = scoring([0.5])
    for (const more of [{ enabled: false }, { model: undefined }])
      expect(await rerank(ranked(0.9), { rerank: more })).toEqual({ ranked: ranked(0.9) })
    expect(asked).toEqual([])
  })

  it('stays the same and reports degraded if the model fails', async () => {
    scoring(new KsError('quota-exceeded', 'no budget is left'))
    const found = await rerank(ranked(0.9, 0.6))
    expect(found.ranked).toEqual(ranked(0.9, 0.6))
    expect(found.degraded).toEqual({
      ...{ part: 'rerank', class: 'budget-spent' },
      reason: 'the rerank model did not order the passages: no budget is left',
    })
    expect(found).not.toHaveProperty('used')
    const gone = new AbortController()
    gone.abort(new Error('gone'))
    await expect(rerank(ranked(0.9), { signal: gone.signal })).rejects.toThrow('gone')
  })
})
