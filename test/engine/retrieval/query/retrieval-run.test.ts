import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { EngineContext } from '../../../../src/engine/library/context.js'
import { TraceRecorder } from '../../../../src/engine/library/traces/recorder.js'
import type { ConcreteMode, ModeRoute } from '../../../../src/engine/retrieval/query/mode.js'
import { buildPlan, runRetrieval } from '../../../../src/engine/retrieval/query/retrieval-run.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import { openSmallStore, PROVIDED, passages, type SmallStore } from '../../../helpers/store.js'
import { admitted, bodyOf, model, never, publish, sharedBy } from './small-space.js'

let store: SmallStore
let context: EngineContext
let space: SpaceRow
beforeAll(async () => {
  store = await openSmallStore()
  space = store.createSpace()
  await publish(store, space, { 'notes.md': passages('The lamp of Brest is lit.', 'The keeper sleeps.') })
})
afterAll(() => store.end())
beforeEach(() => {
  context = { ...store.context }
})

const routeTo = (mode: ConcreteMode): ModeRoute => ({
  ...{ requestedMode: 'auto', resolvedMode: mode, resolver: 'llm', selectionSource: 'reasoning-model' },
  ...{ degraded: false, profileRevision: 1 },
})

describe('the plan of a retrieval', () => {
  const plan = (mode: ConcreteMode, query = 'lamp', profile = {}, as?: ConcreteMode) =>
    buildPlan({ admitted: admitted(store, space, { profile }), query, route: routeTo(mode) }, as)

  it('lists requested and resolved mode, strategy and candidate limits', () => {
    expect(plan('fast', 'lamp', { topK: 7 })).toEqual({
      ...{ strategyVersion: 'fast-1', requestedMode: 'auto', resolvedMode: 'fast', queryLanguage: 'und', topK: 7 },
      ...{ denseTopK: 200, ftsTopK: 200, fusionLimit: 400, rerankCandidateLimit: 30 },
    })
    expect(plan('deep')).toMatchObject({ strategyVersion: 'deep-2', ftsTopK: 200 })
    expect(plan('research')).toMatchObject({
      ...{ strategyVersion: 'research-1', denseTopK: 0, ftsTopK: 0, fusionLimit: 0, rerankCandidateLimit: 0 },
    })
    expect(plan('fast', 'lamp', { rerank: { enabled: false } }).rerankCandidateLimit).toBe(0)
    expect(plan('research', 'lamp', {}, 'fast')).toMatchObject({
      ...{ strategyVersion: 'fast-1', resolvedMode: 'research', ftsTopK: 200, rerankCandidateLimit: 30 },
    })
  })

  it.each([
    ['灯塔有多高', 'zh'],
    ['灯台の高さは', 'ja'],
    ['トウダイ', 'ja'],
    ['등대의 높이', 'ko'],
    ['How high?', 'und'],
  ])('detects the language from a script that only one language uses: %s', (query, language) => {
    expect(plan('fast', query).queryLanguage).toBe(language)
  })
})

describe('a retrieval run', () => {
  async function run(mode: ConcreteMode, body: object = {}, query = 'lamp') {
    const recorder = new TraceRecorder(Date.now)
    const { retrieved, plan } = await runRetrieval(
      { context, ...sharedBy(context) },
      {
        ...{ admitted: admitted(store, space), body: bodyOf(space, 'the lamp', body), query },
        ...{ route: routeTo(mode), signal: never },
      },
      { recorder },
    )
    const steps = new Map(recorder.steps.map(({ name, metadata }) => [name, metadata]))
    return { retrieved, plan, steps, names: recorder.steps.map(({ name }) => name) }
  }
  const texts = ({ retrieved }: Awaited<ReturnType<typeof run>>) => retrieved.ranked.map(({ passage }) => passage.body)

  it('embeds the question, searches the indexes, and records both steps in mode fast', async () => {
    const fast = await run('fast')
    expect(fast.names).toEqual(['query.embed', 'query.retrieve'])
    expect(texts(fast)).toEqual(['The lamp of Brest is lit.'])
    expect(fast.steps.get('query.embed')).toMatchObject({
      model: { pluginId: 'builtin' },
      durationMs: expect.any(Number),
    })
    expect(fast.steps.get('query.embed')).not.toHaveProperty('vectorSpaceId')
    expect(fast.steps.get('query.embed')).not.toHaveProperty('degraded')
    expect(fast.steps.get('query.retrieve')).toMatchObject({
      ...{ itemCount: 1, plan: fast.plan, metrics: { degraded: false, degradedReasons: [], ftsCandidateCount: 1 } },
      projectionSnapshot: { headRevision: 1 },
      retrievalProfile: { revision: 1 },
    })
    expect(fast.plan.strategyVersion).toBe('fast-1')
    expect(fast.retrieved.metrics).not.toHaveProperty('pageIndexPendingDocuments')
  })

  it('records active documents and entities in its step if the query has any', async () => {
    const plain = (await run('fast')).steps.get('query.retrieve')
    expect(plain).not.toHaveProperty('activeDocumentIds')
    expect(plain).not.toHaveProperty('activeEntityIds')
    const active = { activeDocumentIds: ['doc'], activeEntityIds: ['entity'] }
    expect((await run('fast', active)).steps.get('query.retrieve')).toMatchObject(active)
  })

  it('uses the graph in mode deep, and the page index without the search indexes in mode research', async () => {
    const deep = await run('deep')
    expect(texts(deep)[0]).toBe('The lamp of Brest is lit.')
    expect(deep.retrieved.metrics).toHaveProperty('graphBridgeCount')
    const before = store.indexes.searched.length
    const research = await run('research')
    expect(research.names).toEqual(['query.retrieve'])
    expect(texts(research)[0]).toBe('The lamp of Brest is lit.')
    expect(research.retrieved.metrics).toMatchObject({ pageIndexPendingDocuments: 0 })
    expect(store.indexes.searched).toHaveLength(before)
    expect(research.retrieved.degraded).toEqual([])
  })

  it.each([
    [1, 'the page index of a document is not complete yet'],
    [3, 'the page index of 3 documents is not complete yet'],
  ])('falls back from mode research to fast while %i page indexes are missing', async (count, reason) => {
    context.pageIndexes = { ...context.pageIndexes, countMissing: async () => count }
    const { retrieved, plan, names } = await run('research')
    expect(names).toEqual(['query.embed', 'query.retrieve'])
    expect(retrieved.degraded).toEqual([
      { part: 'page-index', class: 'unavailable', reason: expect.stringContaining(reason) },
    ])
    expect(retrieved.metrics).toMatchObject({ degraded: true, pageIndexPendingDocuments: count, ftsCandidateCount: 1 })
    expect(plan).toMatchObject({ strategyVersion: 'fast-1', resolvedMode: 'research' })
    expect((await run('fast')).retrieved.degraded).toEqual([])
  })

  it('continues without vectors if the embedding model fails, and both steps report degraded', async () => {
    space = store.createSpace({ model: PROVIDED })
    model(store, space)
    await publish(store, space, { 'notes.md': passages('The lamp of Brest is lit.', 'The keeper sleeps.') })
    const good = await run('fast')
    expect(good.steps.get('query.embed')).toMatchObject({
      model: PROVIDED,
      dimension: 2,
      vectorSpaceId: expect.any(String),
    })
    store.embed = () => {
      throw new Error('off')
    }
    const bad = await run('fast')
    expect(bad.steps.get('query.embed')).toMatchObject({
      degraded: true,
      degradedReasons: [expect.stringContaining('could not be embedded')],
    })
    expect(bad.steps.get('query.retrieve')?.metrics).toMatchObject({ degraded: true, degradedClass: 'unavailable' })
    expect(texts(bad)).toEqual(['The lamp of Brest is lit.'])
  })
})
