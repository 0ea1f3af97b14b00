import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { QualityTracesQuery } from '../../../../src/contract/gateway/quality.js'
import type { TraceStep } from '../../../../src/contract/gateway/queries.js'
import { newId } from '../../../../src/lib/ids.js'
import { rowsOf } from '../../../helpers/databases.js'
import { ADA, ask, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { until } from '../../../helpers/until.js'

/** Lists over many rows, inserted directly into the database: thousands of queries would take too long. */
const TRACES = 500
const FAILED = 120
const START = Date.parse('2026-01-01T00:00:00Z')
const SECOND = 1000

let test_: TestEngine
let spaceId = ''

beforeAll(async () => {
  test_ = await startEngine()
  spaceId = (await test_.engine.spaces.create(ADA, { name: 'Lists', slug: 'lists' })).id
  const rows = rowsOf(test_.dataDir)
  const spaceKey = keyOf(spaceId)
  await rows.insert(
    'traces',
    Array.from({ length: TRACES }, (_, i) => traceRow(spaceKey, i)),
  )
  await rows.insert(
    'failed_queries',
    Array.from({ length: FAILED }, (_, i) => ({
      ...failedRow(spaceKey, i),
      cluster_key: `c${i % 7}`,
      status: i % 3 === 0 ? 'triaged' : 'pending-triage',
      occurrences: 1 + (i % 5),
    })),
  )
})
afterAll(() => test_.end())

const keyOf = (id: string) => rowsOf(test_.dataDir).value('SELECT key FROM spaces WHERE id = ?', id)

function failedRow(spaceKey: number, i: number) {
  return {
    ...{ id: newId(), tenant: 'tenant-a', space_key: spaceKey, query: `q${i}`, query_key: `k${i}`, cluster_key: 'c' },
    ...{ mode: 'fast', trigger: 'abstained', status: 'pending-triage', occurrences: 1, asked_at: 0, metadata: '{}' },
    ...{ created_at: 0, updated_at: 0 },
  }
}

/** Every third trace has a failed attempt, every sixth did not end with an answer; two traces share a timestamp. */
function traceRow(spaceKey: number, i: number) {
  const bad = i % 3 === 0
  const completed = i % 6 !== 0
  const at = new Date(START).toISOString()
  const steps: TraceStep[] = [
    { name: 'query.answer', status: bad ? 'error' : 'ok', startedAt: at, metadata: { text: '"status":"error"' } },
    {
      name: 'query.generate',
      status: completed ? 'ok' : 'error',
      startedAt: at,
      metadata: { inner: { status: 'error' } },
    },
  ]
  return {
    ...{ id: newId(), tenant: 'tenant-a', space_key: spaceKey, subject: i % 10 === 9 ? 'carol' : 'ada' },
    ...{ query: `Question ${i} Größe`, mode: i % 4 === 0 ? 'deep' : 'fast', requested_mode: 'fast' },
    ...{ completed: completed ? 1 : 0, steps: JSON.stringify(steps), created_at: START + Math.floor(i / 2) * SECOND },
  }
}

interface Expected {
  i: number
  createdAt: number
}

function expected(query: QualityTracesQuery): string[] {
  const mine: Expected[] = []
  for (let i = 0; i < TRACES; i++) {
    const createdAt = START + Math.floor(i / 2) * SECOND
    if (i % 10 === 9) continue
    if (query.mode !== undefined && query.mode !== (i % 4 === 0 ? 'deep' : 'fast')) continue
    if (query.status === 'completed' && i % 6 === 0) continue
    if (query.status === 'failed' && i % 3 !== 0) continue
    if (query.from !== undefined && createdAt < Date.parse(query.from)) continue
    if (query.to !== undefined && createdAt >= Date.parse(query.to)) continue
    if (query.query !== undefined && !`question ${i} größe`.includes(query.query.toLowerCase())) continue
    mine.push({ i, createdAt })
  }
  return mine.sort((a, b) => b.createdAt - a.createdAt || b.i - a.i).map(({ i }) => `Question ${i} Größe`)
}

async function allPages<T>(fetch: (cursor: string | undefined) => Promise<{ items: T[]; nextCursor?: string }>) {
  const items: T[] = []
  let cursor: string | undefined
  do {
    const page = await fetch(cursor)
    items.push(...page.items)
    cursor = page.nextCursor
    if (cursor !== undefined) expect(page.items).not.toEqual([])
  } while (cursor !== undefined)
  return items
}

const second = fc.integer({ min: -5, max: TRACES }).map((n) => new Date(START + n * SECOND).toISOString())

describe('quality traces', () => {
  test('match the filter, newest first, for any page size', async () => {
    const filter = fc.record(
      {
        mode: fc.constantFrom('fast' as const, 'deep' as const, 'auto' as const),
        status: fc.constantFrom('completed' as const, 'failed' as const),
        query: fc.constantFrom('question 4', 'GRÖSSE', 'größe', '99', 'nothing of it'),
        from: second,
        to: second,
      },
      { requiredKeys: [] },
    )
    await fc.assert(
      fc.asyncProperty(filter, fc.integer({ min: 1, max: 100 }), async (some, limit) => {
        const query = { ...some, limit }
        const items = await allPages((cursor) =>
          test_.engine.quality.traces(ADA, spaceId, { ...query, ...(cursor === undefined ? {} : { cursor }) }),
        )
        expect(items.map((item) => item.query)).toEqual(expected(query))
      }),
      { numRuns: 40 },
    )
  })

  test('match both status filters, completed and failed, if a failed attempt recovered', async () => {
    const both = { limit: 100, query: 'Question 3 ' }
    for (const status of ['completed', 'failed'] as const)
      expect((await test_.engine.quality.traces(ADA, spaceId, { ...both, status })).items).toMatchObject([
        { query: 'Question 3 Größe', completed: true },
      ])
  })

  test('reject a cursor of another filter or subject', async () => {
    const { quality } = test_.engine
    const { nextCursor: cursor = '' } = await quality.traces(ADA, spaceId, { limit: 1, mode: 'fast' })
    const carol = { ...ADA, subject: 'carol' }
    for (const attempt of [
      () => quality.traces(ADA, spaceId, { limit: 1, mode: 'deep', cursor }),
      () => quality.traces(ADA, spaceId, { limit: 1, cursor }),
      () => quality.traces(carol, spaceId, { limit: 1, mode: 'fast', cursor }),
      () => quality.failed.list(ADA, spaceId, { limit: 1, cursor }),
      () => quality.golden.list(ADA, spaceId, { limit: 1, cursor }),
    ])
      await expect(attempt()).rejects.toMatchObject({ code: 'invalid-cursor' })
  })

  test('contain profile, stages and scores of the query, and disappear with a document of the evidence', async () => {
    const { engine } = test_
    const { id } = await engine.spaces.create(ADA, { name: 'Sea', slug: 'sea' })
    const [document] = await ingest(engine, ADA, id, { 'a.md': '# Tides\n\nThe moon pulls the tides of the sea.' })
    const { traceId, done } = await ask(engine, ADA, id, 'What pulls the tides of the sea?')
    const bundle = done.metadata?.evidenceBundle as { id: string; items: { scores: { final: number } }[] }
    const { items } = await engine.quality.traces(ADA, id, { limit: 10 })
    const final = bundle.items[0]!.scores.final
    expect(items).toMatchObject([
      {
        id: traceId,
        mode: 'fast',
        completed: true,
        evidenceBundleId: bundle.id,
        evidenceState: 'answerable',
        finalScore: final,
        scores: { final },
        profile: {
          retrievalProfileRevision: expect.any(Number),
          projectionPublicationId: expect.any(String),
          projectionVersion: 1,
        },
      },
    ])
    // So few words train no model: the run had no vector.
    expect(items[0]!.profile).not.toHaveProperty('embeddingModel')
    expect(items[0]!.stages).toContainEqual({ name: 'query.retrieve', status: 'ok', candidateCount: 1 })
    await engine.documents.delete(ADA, id, [document!.asset.id])
    expect((await engine.quality.traces(ADA, id, { limit: 10 })).items).toEqual([])
  })
})

describe('lists of failed queries and golden questions', () => {
  test('return every entry exactly once across pages, even if golden questions are added in between', async () => {
    const { failed, golden } = test_.engine.quality
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 60 }),
        fc.constantFrom(undefined, 'triaged' as const),
        async (limit, status) => {
          const items = await allPages((cursor) =>
            failed.list(ADA, spaceId, {
              limit,
              ...(status === undefined ? {} : { status }),
              ...(cursor === undefined ? {} : { cursor }),
            }),
          )
          const numbers = items.map((item) => Number(item.query.slice(1)))
          expect(numbers).toEqual([...numbers].sort((a, b) => b - a))
          expect(items).toHaveLength(status === undefined ? FAILED : FAILED / 3)
        },
      ),
      { numRuns: 10 },
    )
    const add = (n: number) =>
      golden.create(ADA, spaceId, { question: `g${n}`, expectedEvidenceIds: [], tags: [], metadata: {} })
    for (let n = 0; n < 7; n++) await add(n)
    let n = 7
    const seen = await allPages(async (cursor) => {
      const page = await golden.list(ADA, spaceId, { limit: 3, cursor })
      if (n < 9) await add(n++)
      return page
    })
    expect(seen.map((item) => item.question)).toEqual(['g0', 'g1', 'g2', 'g3', 'g4', 'g5', 'g6', 'g7', 'g8'])
  })

  test('group failed queries into clusters by key, the largest cluster first', async () => {
    const { clusters } = await test_.engine.quality.failed.clusters(ADA, spaceId, { limit: 1000 })
    expect(clusters).toHaveLength(7)
    const counts = clusters.map(({ count }) => count)
    expect(counts).toEqual([...counts].sort((a, b) => b - a))
    expect(clusters.flatMap(({ failedQueryIds }) => failedQueryIds)).toHaveLength(FAILED)
    for (const { failedQueryIds, representative } of clusters) expect(failedQueryIds[0]).toBe(representative.id)
  })
})

describe('the limits of quality data', () => {
  test('a space holds at most 10,000 golden questions, however they are created', async () => {
    const { engine } = test_
    const { id } = await engine.spaces.create(ADA, { name: 'Full', slug: 'full' })
    const { traceId } = await ask(engine, ADA, id, 'Who fills the space?')
    await until(async () => (await engine.quality.failed.list(ADA, id, { limit: 1 })).items.length === 1)
    const [failed] = (await engine.quality.failed.list(ADA, id, { limit: 1 })).items
    const row = {
      tenant: 'tenant-a',
      space_key: keyOf(id),
      question: 'q',
      expected_evidence: '[]',
      tags: '[]',
      metadata: '{}',
    }
    await rowsOf(test_.dataDir).insert(
      'golden_questions',
      Array.from({ length: 9999 }, () => ({ ...row, id: newId(), created_at: 0, updated_at: 0 })),
    )
    const { golden, failed: queries } = engine.quality
    const body = { question: 'q', expectedEvidenceIds: [], tags: [], metadata: {} }
    await golden.create(ADA, id, body)
    for (const attempt of [
      () => golden.create(ADA, id, body),
      () => golden.fromTrace(ADA, id, { traceId, tags: [] }),
      () => queries.decide(ADA, id, failed!.id, { verdict: 'retrieval-miss' }),
    ])
      await expect(attempt()).rejects.toMatchObject({ code: 'capacity-exceeded' })
    expect((await queries.list(ADA, id, { limit: 1 })).items[0]).toEqual(failed)
  })

  test('at 10,000 failed queries of a space a new one replaces a settled one, and never an open one', async () => {
    const { engine } = test_
    const { id } = await engine.spaces.create(ADA, { name: 'Crowded', slug: 'crowded' })
    const key = keyOf(id)
    await rowsOf(test_.dataDir).insert(
      'failed_queries',
      Array.from({ length: 10_000 }, (_, i) => ({
        ...failedRow(key, i),
        ...(i === 5 && { status: 'dismissed' }),
        updated_at: i,
      })),
    )
    await ask(engine, ADA, id, 'Who is new here?')
    const newest = async () => (await engine.quality.failed.list(ADA, id, { limit: 1 })).items[0]!.query
    await until(async () => (await newest()) === 'Who is new here?')
    expect((await engine.quality.failed.metrics(ADA, id)).byStatus).toMatchObject({
      dismissed: 0,
      'pending-triage': 10_000,
    })
    await ask(engine, ADA, id, 'Who is next?')
    expect((await engine.quality.failed.metrics(ADA, id)).total).toBe(10_000)
    expect(await newest()).toBe('Who is new here?')
  })
})

describe('the deletion of quality data', () => {
  const rows = async (key: number) =>
    Object.fromEntries(
      ['golden_questions', 'failed_queries', 'missing_reviews', 'missing_review_history'].map((table) => [
        table,
        rowsOf(test_.dataDir).value(`SELECT count(*) FROM ${table} WHERE space_key = ?`, key),
      ]),
    )

  test('a deleted trace removes its reviews, but no golden question; a deleted space removes everything', async () => {
    const { engine } = test_
    const { id } = await engine.spaces.create(ADA, { name: 'Gone', slug: 'gone' })
    const key = keyOf(id)
    const review = async (query: string) => {
      const { traceId } = await ask(engine, ADA, id, query)
      const { items } = await engine.queries.missing(ADA, traceId, { limit: 1 })
      const item = { traceId, itemKey: String(items[0]!.metadata.itemKey) }
      await engine.quality.reviewMissing(ADA, id, item, { expectedRevision: 0, status: 'dismissed' })
      return traceId
    }
    const traceId = await review('Who left the party?')
    await engine.quality.golden.fromTrace(ADA, id, { traceId, tags: [] })
    await rowsOf(test_.dataDir).run('DELETE FROM traces WHERE id = ?', traceId)
    expect(await rows(key)).toEqual({
      golden_questions: 1,
      failed_queries: 1,
      missing_reviews: 0,
      missing_review_history: 0,
    })
    const [failed] = (await engine.quality.failed.list(ADA, id, { limit: 1 })).items
    expect(failed).not.toHaveProperty('answerTraceId')
    await review('Who stayed at the party?')
    await engine.spaces.delete(ADA, id)
    const none = { golden_questions: 0, failed_queries: 0, missing_reviews: 0, missing_review_history: 0 }
    await until(async () => Object.values(await rows(key)).every((n) => n === 0))
    expect(await rows(key)).toEqual(none)
  })
})
