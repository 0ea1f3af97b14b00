import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { KsError } from '../../../../src/contract/errors.js'
import type { AnswerDone, EvidenceBundle, QueryBody } from '../../../../src/contract/gateway/queries.js'
import type { AnswerFrame } from '../../../../src/engine/base/query-run.js'
import type { EngineContext } from '../../../../src/engine/library/context.js'
import { QueryGate } from '../../../../src/engine/retrieval/query/gate.js'
import { startQuery } from '../../../../src/engine/retrieval/query/run.js'
import { searchSpace } from '../../../../src/engine/retrieval/query/search.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import { ADA } from '../../../helpers/engine.js'
import { openSmallStore, passages, type SmallStore } from '../../../helpers/store.js'
import { bodyOf, MODEL, publish, sharedBy, speaking } from './small-space.js'

const TOWER = 'The tower of Brest is 40 metres high.'
const ANSWER = `[1] a.md\n\n${TOWER}`
const QUESTION = 'How high is the tower of Brest?'

let store: SmallStore
let context: EngineContext
let space: SpaceRow
let gate: QueryGate
beforeAll(async () => {
  store = await openSmallStore()
  space = store.createSpace()
  await publish(store, space, { 'a.md': passages(TOWER, 'The sea is deep there.') })
})
afterAll(() => store.end())
beforeEach(() => {
  context = { ...store.context, options: { ...store.context.options, quotas: {} } }
  gate = new QueryGate(2, 0)
})

const start = (body: Partial<QueryBody> = {}, signal = new AbortController().signal) =>
  startQuery({ context, ...sharedBy(context, gate) }, ADA, bodyOf(space, QUESTION, body), signal)
/** Runs a query and reads its stream to the end. */
async function ask(
  body: Partial<QueryBody> = {},
  signal?: AbortSignal,
  each: (frame: AnswerFrame) => void = () => undefined,
) {
  const run = await start(body, signal)
  const frames: AnswerFrame[] = []
  for await (const frame of run.frames()) {
    frames.push(frame)
    each(frame)
  }
  const last = frames.at(-1)
  const done = last?.event === 'answer.done' ? last.data : undefined
  return { ...run, frames, done, bundle: done?.metadata?.evidenceBundle, events: frames.map(({ event }) => event) }
}
interface Trace {
  mode: string
  requested_mode: string
  completed: number
  query: string
  session_id: string | null
  steps: { name: string; status: string; metadata: Record<string, unknown> }[]
}
function traceOf(id: string): Trace | undefined {
  const [row] = store.rows<Omit<Trace, 'steps'> & { steps: string }>('SELECT * FROM traces WHERE id = ?', id)
  return row && { ...row, steps: JSON.parse(String(row.steps)) }
}
const leases = () => context.leases.listBySpace(space.key).length

describe('a query', () => {
  it('streams its answer, then reports metadata and evidence', async () => {
    const { frames, events, done, bundle, traceId } = await ask()
    expect(events).toEqual(['answer.delta', 'answer.done'])
    expect(frames[0]?.data).toEqual({ delta: ANSWER, traceId })
    expect(done).toMatchObject({ finishReason: 'retrieval-evidence', traceId })
    expect(done?.metadata).toMatchObject({
      ...{ mode: 'fast', requestedMode: 'fast', cited: [1], generator: 'extractive', degraded: false },
      topScore: bundle?.items[0]?.score,
      citations: bundle?.items.flatMap(({ citations }) => citations),
      projectionSnapshot: { headRevision: 1 },
      retrievalProfile: { revision: 1 },
      plan: { strategyVersion: 'fast-1' },
      metrics: { degraded: false, relevanceFilteredCount: expect.any(Number), ftsCandidateCount: expect.any(Number) },
    })
    expect(bundle?.items[0]).toMatchObject({ text: TOWER, freshness: 'fresh' })
    expect(bundle).toMatchObject({ query: QUESTION, traceId, state: 'answerable' })
    expect(Number(done?.metadata?.metrics?.relevanceFilteredCount)).toBe(
      Number(done?.metadata?.metrics?.finalCandidateCount) - (bundle?.items.length ?? 0),
    )
  })

  it('stores its trace and turn before it sends answer.done', async () => {
    let stored: Trace | undefined
    const { traceId, sessionId, bundle, done } = await ask({}, undefined, ({ event, data }) => {
      if (event === 'answer.done') stored = traceOf(data.traceId)
    })
    expect(stored).toMatchObject({ query: QUESTION, mode: 'fast', requested_mode: 'fast', completed: 1 })
    expect(stored?.steps.map(({ name, status }) => [name, status])).toEqual([
      ['query.route', 'ok'],
      ['query.embed', 'ok'],
      ['query.retrieve', 'ok'],
      ['query.answer', 'ok'],
      ['query.generate', 'ok'],
    ])
    const metadata = (name: string) => stored?.steps.find((step) => step.name === name)?.metadata
    expect(metadata('query.answer')).toMatchObject({
      answerChars: ANSWER.length,
      durationMs: expect.any(Number),
    })
    expect(metadata('query.generate')).toMatchObject({
      eventCount: 2,
      finishReason: done?.finishReason,
      topScore: done?.metadata?.topScore,
    })
    expect(metadata('query.route')).toMatchObject({ resolver: 'explicit', durationMs: expect.any(Number) })
    const turns = store.rows('SELECT session_id, query, answer FROM session_turns WHERE trace_id = ?', traceId)
    expect(turns).toEqual([{ session_id: sessionId, query: QUESTION, answer: ANSWER }])
    expect(store.rows('SELECT bundle_id id FROM traces WHERE id = ?', traceId)).toEqual([{ id: bundle?.id }])
  })

  it('uses the earlier turns of its session', async () => {
    const first = await ask()
    const second = await ask({ sessionId: first.sessionId, query: 'And how high is it?' })
    expect(second.sessionId).toBe(first.sessionId)
    expect(second.bundle?.items[0]?.text).toBe(TOWER)
    expect((await ask({ query: 'And how high is it?' })).sessionId).not.toBe(first.sessionId)
  })

  it('reports not-enough-evidence without matching passages, and is captured as a failed query', async () => {
    const { done, bundle } = await ask({ query: 'quantum chromodynamics' })
    expect(done?.finishReason).toBe('no-retrieval-evidence')
    expect(bundle?.state).toBe('not-enough-evidence')
    expect(done?.metadata).toMatchObject({ topScore: bundle?.items[0]?.score ?? 0, cited: [] })
    const failed = () => store.rows('SELECT query FROM failed_queries WHERE space_key = ?', space.key)
    await expect.poll(failed).toEqual([{ query: 'quantum chromodynamics' }])
    await ask()
    expect(failed()).toHaveLength(1)
  })

  it('reports a failed model and an undecided mode as degradations', async () => {
    context.options = { ...context.options, defaultGenerator: MODEL }
    speaking(context, new KsError('provider-failed', 'the provider is off'))
    const { done, traceId } = await ask({ mode: 'auto' })
    expect(done?.metadata).toMatchObject({
      ...{ degraded: true, generator: 'extractive', mode: 'fast', requestedMode: 'auto' },
      degradations: [{ part: 'route' }, { part: 'answer' }],
      metrics: { degraded: true },
    })
    const steps = traceOf(traceId)?.steps.filter(({ name }) => name === 'query.answer')
    expect(steps?.map(({ status }) => status)).toEqual(['error', 'ok'])
    expect(steps?.[0]?.metadata).toMatchObject({ errorClass: 'provider-failed' })
  })
})

describe('a failing query', () => {
  const failing = (error: unknown) => {
    context.indexes = Object.assign(Object.create(context.indexes), {
      search: async () => {
        throw error
      },
    })
  }

  it('sends the error and stores it in its trace', async () => {
    failing(new KsError('unavailable', 'the index is gone'))
    const { events, frames, traceId } = await ask({ mode: 'deep' })
    expect(events).toEqual(['answer.error'])
    expect(frames[0]?.data).toEqual({ error: 'the index is gone', traceId })
    const trace = traceOf(traceId)
    expect(trace).toMatchObject({ completed: 0, mode: 'deep', requested_mode: 'deep', query: QUESTION })
    expect(trace?.steps.map(({ name, status }) => [name, status])).toEqual([
      ['query.route', 'ok'],
      ['query.embed', 'ok'],
      ['query.generate', 'error'],
    ])
    expect(trace?.steps.at(-1)?.metadata).toEqual({
      eventCount: 1,
      errorClass: 'unavailable',
      error: 'the index is gone',
    })
  })

  it('sends the trace id instead of the message of an internal error', async () => {
    failing(new Error('a secret path'))
    const { frames, traceId } = await ask()
    expect(JSON.stringify(frames)).not.toContain('secret')
    expect(frames[0]?.data).toMatchObject({ error: expect.stringContaining(traceId) })
    expect(traceOf(traceId)?.steps.at(-1)?.metadata).toMatchObject({ errorClass: 'internal' })
  })

  it('stores its requested mode in its trace', async () => {
    const missing = async () => Promise.reject(new Error('off'))
    context.pageIndexes = { ...context.pageIndexes, countMissing: missing }
    const { traceId } = await ask({ mode: 'research' })
    expect(traceOf(traceId)).toMatchObject({ completed: 0, mode: 'research', requested_mode: 'research' })
  })

  it('records the sent events and an error step if it fails within the answer', async () => {
    context.options = { ...context.options, defaultGenerator: MODEL }
    speaking(context, [
      { type: 'delta', text: 'It is 40 metres high. ' },
      { type: 'delta', text: 'And' },
      new Error('off'),
    ])
    const { events, traceId } = await ask()
    expect(events).toEqual(['answer.delta', 'answer.error'])
    expect(traceOf(traceId)?.steps.at(-1)).toMatchObject({ status: 'error', metadata: { eventCount: 2 } })
  })

  it('sends an error after the answer if its trace cannot be written, and stores an error trace', async () => {
    const record = context.db.record.bind(context.db)
    let calls = 0
    context.db = Object.assign(Object.create(context.db), {
      read: context.db.read.bind(context.db),
      record: async (program: never) => {
        if (++calls === 1) throw new KsError('unavailable', 'the disk is full')
        return record(program)
      },
    })
    const { events, traceId } = await ask()
    expect(events).toEqual(['answer.delta', 'answer.error'])
    const steps = traceOf(traceId)?.steps.filter(({ name }) => name === 'query.generate')
    expect(steps?.map(({ status }) => status)).toEqual(['error'])
  })

  it('does not fail again if its error trace cannot be written either', async () => {
    context.db = Object.assign(Object.create(context.db), {
      read: context.db.read.bind(context.db),
      record: async () => {
        throw new Error('off')
      },
    })
    const { events, traceId } = await ask()
    expect(events).toEqual(['answer.delta', 'answer.error'])
    expect(traceOf(traceId)).toBeUndefined()
  })
})

describe('a query whose client disconnects', () => {
  it('stops without further events, stores no trace and frees lease and slot', async () => {
    const client = new AbortController()
    const { events, traceId } = await ask({}, client.signal, () => client.abort(new Error('gone')))
    expect(events).toEqual(['answer.delta'])
    expect(traceOf(traceId)).toBeUndefined()
    expect(leases()).toBe(0)
    expect(gate.running).toBe(0)
  })
})

describe('a running query', () => {
  it('occupies a slot of the query gate and a read lease until its stream ends', async () => {
    const run = await start()
    expect(gate.running).toBe(1)
    expect(context.leases.listBySpace(space.key)).toMatchObject([
      {
        ...{ id: run.traceId, sessionId: run.sessionId, subject: ADA.subject, type: 'read', targetType: 'publication' },
        virtualPath: `/evidence/${run.traceId}`,
      },
    ])
    for await (const _ of run.frames()) expect(gate.running).toBe(1)
    expect([gate.running, leases()]).toEqual([0, 0])
  })

  it('frees its slot and lease if the session quota rejects it', async () => {
    context.options = { ...context.options, quotas: { maxActiveSessionCount: 0 } }
    await expect(start()).rejects.toMatchObject({ code: 'quota-exceeded' })
    expect([gate.running, leases()]).toEqual([0, 0])
  })
})

describe('an invalid query', () => {
  it('fails before the stream starts, and frees its slot', async () => {
    await expect(start({ knowledgeSpaceId: '01936f5e-8b2c-7f4d-8a63-5e7b9d1f3c22' })).rejects.toMatchObject({
      code: 'not-found',
    })
    context.options = { ...context.options, quotas: { maxTraceBytes: 0 } }
    await expect(start()).rejects.toMatchObject({ code: 'quota-exceeded' })
    expect(gate.running).toBe(0)
  })
})

describe('a search without an answer', () => {
  const search = (body: object = {}) =>
    searchSpace({ context, ...sharedBy(context, gate) }, ADA, space.id, {
      ...{ query: QUESTION, limit: 10, activeDocumentIds: [], activeEntityIds: [] },
      ...body,
    } as Parameters<typeof searchSpace>[3])

  it('finds the same best passage as a query, and stores no trace', async () => {
    const before = store.rows('SELECT id FROM traces').length
    const found = await search()
    expect(found).toMatchObject({ query: QUESTION, mode: 'fast', degradedReasons: [] })
    expect(found.publicationId).toBe(store.reload(space).publication_id)
    expect(found.items[0]).toMatchObject({ text: TOWER, freshness: 'fresh' })
    expect(found.items[0]).not.toHaveProperty('conflicts')
    const bundle: EvidenceBundle | undefined = ((await ask()).done satisfies AnswerDone | undefined)?.metadata
      ?.evidenceBundle
    expect(found.items[0]?.nodeId).toBe(bundle?.items[0]?.nodeId)
    expect(store.rows('SELECT id FROM traces')).toHaveLength(before + 1)
    expect([gate.running, leases()]).toEqual([0, 0])
  })

  it('returns at most as many items as the limit of the request', async () => {
    const query = 'tower sea'
    expect((await search({ query, limit: 1 })).items).toHaveLength(1)
    expect((await search({ query, limit: 2 })).items).toHaveLength(2)
    expect((await search({ query, limit: 10 })).items).toHaveLength(2)
  })

  it('returns more than topK of the profile if the request has a higher limit', async () => {
    const other = store.createSpace()
    await publish(store, other, { 'a.md': passages(...Array.from({ length: 14 }, (_, n) => `Tower number ${n}.`)) })
    const found = await searchSpace({ context, ...sharedBy(context, gate) }, ADA, other.id, {
      ...{ query: 'tower', limit: 12, activeDocumentIds: [], activeEntityIds: [] },
    } as Parameters<typeof searchSpace>[3])
    expect(found.items).toHaveLength(12)
  })

  it('reports degraded reasons, and frees its slot when it fails', async () => {
    context.vectors = { ...context.vectors, missing: async () => ({ passages: 2, class: undefined }) }
    expect((await search()).degradedReasons).toEqual(['vectors of 2 passages are missing'])
    context.vectors = {
      ...context.vectors,
      missing: async () => {
        throw new Error('off')
      },
    }
    await expect(search()).rejects.toThrow('off')
    expect([gate.running, leases()]).toEqual([0, 0])
  })
})
