import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { AnswerDone } from '../../../../../src/contract/gateway/queries.js'
import type { SpacesQueryBody } from '../../../../../src/contract/gateway/several-spaces.js'
import type { Caller } from '../../../../../src/engine/base/caller.js'
import type { EngineContext } from '../../../../../src/engine/library/context.js'
import { QueryGate } from '../../../../../src/engine/retrieval/query/gate.js'
import { startSpacesQuery } from '../../../../../src/engine/retrieval/query/spaces/run.js'
import { searchSpaces } from '../../../../../src/engine/retrieval/query/spaces/search.js'
import type { SpaceRow } from '../../../../../src/engine/store/rows/spaces.js'
import { ADA, BOB } from '../../../../helpers/engine.js'
import { openSmallStore, passages, type SmallStore } from '../../../../helpers/store.js'
import { MODEL, publish, restrict, sharedBy, speaking } from '../small-space.js'

const BREST = 'The tower of Brest is 40 metres high.'
const CREST = 'The tower of Crest is 60 metres high.'
const QUESTION = 'How high are the tower of Brest and the tower of Crest?'
const SEA = 'The sea is deep there.'

let store: SmallStore
let context: EngineContext
let brest: SpaceRow
let crest: SpaceRow
let gate: QueryGate
beforeEach(async () => {
  store = await openSmallStore()
  brest = store.createSpace()
  crest = store.createSpace()
  await publish(store, brest, { 'towers/brest.md': passages(BREST, SEA) })
  await publish(store, crest, { 'towers/crest.md': passages(CREST), 'cold.md': passages('Snow falls in winter.') })
  context = { ...store.context, options: { ...store.context.options, quotas: {} } }
  gate = new QueryGate(2, 0)
})
afterEach(() => store.end())

const request = (more: Partial<SpacesQueryBody> = {}) => ({
  ...{ knowledgeSpaceIds: [brest.id, crest.id], query: QUESTION, activeDocumentIds: [], activeEntityIds: [] },
  ...more,
})
const start = (more: Partial<SpacesQueryBody> = {}, caller: Caller = ADA) =>
  startSpacesQuery({ context, ...sharedBy(context, gate) }, caller, request(more), new AbortController().signal)
async function finish(run: Awaited<ReturnType<typeof start>>) {
  let [answer, error] = ['', '']
  let done: AnswerDone | undefined
  for await (const frame of run.frames()) {
    if (frame.event === 'answer.delta') answer += frame.data.delta
    else if (frame.event === 'answer.done') done = frame.data
    else error = frame.data.error
  }
  const metadata = done?.metadata
  return { ...run, answer, error, done, metadata, items: metadata?.evidenceBundle?.items ?? [] }
}
const ask = async (more: Partial<SpacesQueryBody> = {}, caller?: Caller) => finish(await start(more, caller))
const search = (more: Partial<SpacesQueryBody> & { limit?: number } = {}) => {
  const { mode: _, ...body } = request(more)
  return searchSpaces({ context, ...sharedBy(context, gate) }, ADA, { limit: 10, ...body })
}
const textsOf = (items: readonly { text: string }[]) => items.map(({ text }) => text)
/** Makes searches of a space fail. */
function breakSearches(...spaces: SpaceRow[]): void {
  const { search: find } = store.indexes
  store.indexes.search = (id, ...rest) =>
    spaces.some((one) => one.id === id) ? Promise.reject(new Error('off')) : find.call(store.indexes, id, ...rest)
}
const tracesOf = (space: SpaceRow) =>
  store.rows<{ id: string; completed: number; body: string | null; session_id: string | null }>(
    `SELECT t.id, t.completed, t.session_id, b.body FROM traces t LEFT JOIN evidence_bundles b ON b.id = t.bundle_id
     WHERE t.space_key = ?`,
    space.key,
  )

describe('one question over several spaces', () => {
  it('gets an answer from the evidence of both, and each citation names its space', async () => {
    const { answer, items, metadata, done, traceId } = await ask()
    expect(answer).toContain(BREST)
    expect(answer).toContain(CREST)
    expect(done).toMatchObject({ finishReason: 'retrieval-evidence', traceId })
    const cited = items.map(({ text, citations }) => [
      text,
      citations[0]?.knowledgeSpaceId,
      citations[0]?.knowledgeSpaceSlug,
    ])
    expect(cited).toContainEqual([BREST, brest.id, brest.slug])
    expect(cited).toContainEqual([CREST, crest.id, crest.slug])
    expect(metadata).toMatchObject({ omittedSpaces: 0, degraded: false, mode: 'fast' })
    expect(metadata?.spaces).toMatchObject([
      { knowledgeSpaceId: brest.id, slug: brest.slug, mode: 'fast', traceId },
      { knowledgeSpaceId: crest.id, slug: crest.slug, mode: 'fast' },
    ])
    expect(metadata?.citations).toEqual(items.flatMap(({ citations }) => citations))
    expect(gate.running).toBe(0)
    expect([brest, crest].flatMap(({ key }) => context.leases.listBySpace(key))).toEqual([])
  })

  it('stores in each space the trace of its own part, without texts of the others and without a session', async () => {
    const { metadata } = await ask()
    for (const [space, own, foreign] of [
      [brest, BREST, CREST],
      [crest, CREST, BREST],
    ] as const) {
      const [trace, ...others] = tracesOf(space)
      expect(others).toEqual([])
      expect(trace).toMatchObject({ completed: 1, session_id: null })
      expect(trace?.body).toContain(own)
      expect(trace?.body).not.toContain(foreign)
      expect(metadata?.spaces?.find(({ slug }) => slug === space.slug)?.traceId).toBe(trace?.id)
    }
    expect(store.rows('SELECT * FROM session_turns')).toEqual([])
    expect(store.rows('SELECT * FROM failed_queries')).toEqual([])
  })

  it('takes nothing from a space without an answer if another one answers', async () => {
    const { items, metadata } = await ask({ query: 'How high is the tower of Crest?' })
    expect(textsOf(items)[0]).toBe(CREST)
    expect(metadata?.evidenceBundle?.state).toBe('answerable')
    const cold = await ask({ query: 'Does snow fall in winter?' })
    expect(textsOf(cold.items)).not.toContain(SEA)
    expect(cold.metadata?.spaces?.map(({ passages: count }) => count > 0)).toEqual([false, true])
  })

  it('searches each space at the revision at which it was admitted', async () => {
    const run = await start()
    await publish(store, crest, { 'new.md': passages('The tower of Crest and the tower of Brest are high.') })
    expect(textsOf((await finish(run)).items).join()).not.toContain('are high')
    expect(textsOf((await ask()).items).join()).toContain('are high')
  })

  it('reports a space that fails, and gets an answer from the others', async () => {
    breakSearches(brest)
    const { answer, items, metadata } = await ask()
    expect(answer).toContain(CREST)
    expect(new Set(items.map(({ citations }) => citations[0]?.knowledgeSpaceId))).toEqual(new Set([crest.id]))
    expect(metadata?.degradedReasons).toEqual([`${brest.slug}: the space was not searched: an unexpected failure`])
    expect(metadata?.spaces?.[0]).toMatchObject({ slug: brest.slug, passages: 0, problem: 'an unexpected failure' })
    expect(tracesOf(brest)).toMatchObject([{ completed: 0, body: null }])
  })

  it('fails if every space fails, and records the failure in each', async () => {
    breakSearches(brest, crest)
    const { error, done } = await ask()
    expect(done).toBeUndefined()
    expect(error).toMatch(/^the query failed unexpectedly/)
    expect([...tracesOf(brest), ...tracesOf(crest)].map(({ completed }) => completed)).toEqual([0, 0])
    expect(gate.running).toBe(0)
  })

  it('reports a space that is empty', async () => {
    const empty = store.createSpace()
    const { answer, metadata } = await ask({ knowledgeSpaceIds: [brest.id, empty.id] })
    expect(answer).toContain(BREST)
    expect(metadata?.spaces?.[1]).toMatchObject({ slug: empty.slug, problem: expect.stringContaining('no searchable') })
  })

  it('covers the last published spaces of the caller if it names none, and reports how many it leaves out', async () => {
    expect((await ask({ knowledgeSpaceIds: undefined })).metadata?.spaces?.map(({ slug }) => slug).sort()).toEqual(
      [brest.slug, crest.slug].sort(),
    )
    store.createSpace({ caller: BOB })
    for (let count = 2; count < 66; count++) store.createSpace()
    store.run('UPDATE spaces SET published_at = published_at + 1000 WHERE key IN (?, ?)', brest.key, crest.key)
    const { answer, metadata } = await ask({ knowledgeSpaceIds: undefined })
    expect(answer).toContain(BREST)
    expect(metadata).toMatchObject({ omittedSpaces: 2, degraded: true })
    expect(metadata?.spaces).toHaveLength(64)
    expect(metadata?.degradedReasons).toEqual(['2 more spaces were not searched: 64 is the maximum'])
  })

  it('gets not-found for a space of another tenant, as for one that does not exist', async () => {
    const foreign = store.createSpace()
    await publish(store, foreign, { 'secret.md': passages('The tower of Brest is secret.') })
    store.run('UPDATE spaces SET tenant = ? WHERE key = ?', BOB.tenant, foreign.key)
    await expect(start({ knowledgeSpaceIds: [brest.id, foreign.id] })).rejects.toMatchObject({ code: 'not-found' })
    await expect(start({}, BOB)).rejects.toMatchObject({ code: 'not-found' })
    expect(textsOf((await ask({ knowledgeSpaceIds: undefined })).items).join()).not.toContain('secret')
    expect(gate.running).toBe(0)
  })

  it('uses no passage of a source that the caller may not read', async () => {
    restrict(store, crest, ['towers/crest.md'], 'bob')
    const { answer, items } = await ask()
    expect(answer).not.toContain(CREST)
    expect(textsOf(items)).not.toContain(CREST)
    expect(textsOf((await search()).items)).not.toContain(CREST)
  })

  it('covers only the given documents, by id or by path, in any of the spaces', async () => {
    const [document] = store.rows<{ id: string }>("SELECT id FROM documents WHERE filename = 'towers/crest.md'")
    const byId = await ask({ activeDocumentIds: [document?.id ?? ''] })
    expect(byId.metadata?.spaces?.map(({ slug }) => slug)).toEqual([crest.slug])
    expect(textsOf(byId.items)).toEqual([CREST])
    expect(textsOf((await ask({ filter: { paths: ['brest.*'] } })).items)).toContain(BREST)
    const both = await ask({ filter: { paths: ['towers/*'] } })
    expect(textsOf(both.items)).toEqual(expect.arrayContaining([BREST, CREST]))
    const unknown = '018f0000-0000-7000-8000-000000000001'
    await expect(start({ activeDocumentIds: [unknown] })).rejects.toMatchObject({ code: 'not-found' })
    await expect(start({ filter: { paths: ['nowhere/*'] } })).rejects.toThrow('no document matches "nowhere/*"')
  })

  it('gets its answer from a model only if all spaces use this model', async () => {
    context.options = { ...context.options, defaultGenerator: MODEL }
    const asked = speaking(context, 'The tower of Brest is 40 metres high [1].')
    expect((await ask()).metadata).toMatchObject({ generator: 'model' })
    expect(asked).toHaveLength(1)
    const builtin = { pluginId: 'builtin', provider: 'extractive', model: 'extractive' }
    const body = JSON.stringify({ reasoningModel: builtin })
    store.run('INSERT INTO retrieval_profiles (space_key, revision, body) VALUES (?, 2, ?)', crest.key, body)
    const divided = await ask()
    expect(divided.metadata).toMatchObject({ generator: 'extractive', degraded: true })
    expect(divided.answer).toContain(BREST)
  })
})

describe('a search of several spaces', () => {
  it('merges passages by rank, names their spaces, and stores nothing', async () => {
    const { items, spaces, omittedSpaces, degradedReasons } = await search()
    expect(textsOf(items).slice(0, 2).sort()).toEqual([BREST, CREST])
    expect(items[0]).not.toHaveProperty('conflicts')
    expect(new Set(items.map(({ citations }) => citations[0]?.knowledgeSpaceSlug))).toEqual(
      new Set([brest.slug, crest.slug]),
    )
    expect(spaces.map(({ slug, mode }) => [slug, mode])).toEqual([
      [brest.slug, 'fast'],
      [crest.slug, 'fast'],
    ])
    expect(spaces[0]).not.toHaveProperty('traceId')
    expect([omittedSpaces, degradedReasons]).toEqual([0, []])
    expect(store.rows('SELECT id FROM traces')).toEqual([])
    expect((await search({ limit: 1 })).items).toHaveLength(1)
  })

  it('reports a space that fails, and fails if all do', async () => {
    breakSearches(brest)
    expect((await search()).degradedReasons).toEqual([
      `${brest.slug}: the space was not searched: an unexpected failure`,
    ])
    breakSearches(crest)
    await expect(search()).rejects.toThrow('off')
    expect(gate.running).toBe(0)
  })
})
