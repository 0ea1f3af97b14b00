import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FailedQueriesQuery, FailedQuery } from '../../../../src/contract/gateway/failed-queries.js'
import { ADA, ask, BOB, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { until } from '../../../helpers/until.js'

const CAROL = { tenant: ADA.tenant, subject: 'carol' }
const NOBODY = '018f0000-0000-7000-8000-000000000001'
const MISSING = `sha256:${'0'.repeat(64)}`
const LIST: FailedQueriesQuery = { limit: 200 }

const DOCUMENTS = {
  'tides.md': '# Tides\n\nThe moon pulls the sea. Spring tides come when sun and moon stand in line.\n',
  'harbour.md': '# Harbour\n\nThe harbour of Brest has a tidal range of six metres. Ships enter at high water.\n',
}

let test_: TestEngine
let spaceId = ''

beforeAll(async () => {
  test_ = await startEngine()
  spaceId = await newSpace('sea')
})
afterAll(() => test_.end())

async function newSpace(slug: string): Promise<string> {
  const { engine } = test_
  const { id } = await engine.spaces.create(ADA, { name: slug, slug })
  await ingest(engine, ADA, id, DOCUMENTS)
  return id
}

/** Asks a question, and returns the failed query that it caused. */
async function failed(query: string, space = spaceId): Promise<FailedQuery> {
  const { traceId } = await ask(test_.engine, ADA, space, query)
  let found: FailedQuery | undefined
  await until(async () => {
    const { items } = await test_.engine.quality.failed.list(ADA, space, LIST)
    found = items.find((item) => item.answerTraceId === traceId)
    return found !== undefined
  })
  return found!
}

describe('the capture of failed queries', () => {
  test('stores an unanswered query as a row up to ten times, and then counts repeats in an existing row', async () => {
    const first = await failed('Who won the cricket final?')
    expect(first).toMatchObject({
      query: 'Who won the cricket final?',
      mode: 'fast',
      trigger: 'no-retrieval-evidence',
      status: 'pending-triage',
      metadata: { occurrences: 1 },
    })
    const again = await failed('  who WON the cricket   final')
    expect(again.id).not.toBe(first.id)
    expect(again.answerTraceId).not.toBe(first.answerTraceId)
    for (let more = 0; more < 8; more++) await failed('Who won the cricket final?')
    const counted = await failed('Who won the cricket final?')
    expect(counted.metadata).toMatchObject({ occurrences: 2 })
    const { items } = await test_.engine.quality.failed.list(ADA, spaceId, LIST)
    expect(items.filter(({ query }) => query.includes('cricket'))).toHaveLength(10)
  })

  test('does not store an answered query', async () => {
    const asked = await ask(test_.engine, ADA, spaceId, 'When do spring tides come?')
    expect(asked.done.finishReason).toBe('retrieval-evidence')
    const { items } = await test_.engine.quality.failed.list(ADA, spaceId, LIST)
    expect(items.map((item) => item.query)).not.toContain('When do spring tides come?')
  })

  test('counts the repeat of a dismissed query, and stores the repeat of an annotated query as a new row', async () => {
    const { decide } = test_.engine.quality.failed
    const dismissed = await failed('Where is the nearest pizza oven?')
    await decide(ADA, spaceId, dismissed.id, { verdict: 'irrelevant' })
    expect(await failed('Where is the nearest pizza oven?')).toMatchObject({
      id: dismissed.id,
      status: 'dismissed',
      metadata: { occurrences: 2, verdict: { verdict: 'irrelevant' } },
    })
    const annotated = await failed('Which lighthouse keeper wrote poems?')
    await decide(ADA, spaceId, annotated.id, { verdict: 'coverage-gap' })
    const news = await failed('Which lighthouse keeper wrote poems?')
    expect(news.id).not.toBe(annotated.id)
    expect(news.status).toBe('pending-triage')
  })
})

describe('the verdict of a reviewer about a failed query', () => {
  test('retrieval-miss promotes the query and creates one golden question, even if it is repeated', async () => {
    const { failed: queries, golden } = test_.engine.quality
    const query = await failed('How deep is the trench?')
    const body = { verdict: 'retrieval-miss' as const, expectedEvidenceIds: [NOBODY], note: 'in the annex' }
    const promoted = await queries.decide(ADA, spaceId, query.id, body)
    expect(promoted).toMatchObject({ status: 'promoted', metadata: { verdict: { ...body, actorSubjectId: 'ada' } } })
    const goldenId = (promoted.metadata.verdict as { goldenQuestionId: string }).goldenQuestionId
    expect(await golden.get(ADA, spaceId, goldenId)).toMatchObject({
      question: query.query,
      expectedEvidenceIds: [NOBODY],
      metadata: { origin: { kind: 'failed-query', failedQueryId: query.id, note: 'in the annex' } },
    })
    const before = (await golden.list(ADA, spaceId, { limit: 1000 })).items.length
    await queries.decide(ADA, spaceId, query.id, { verdict: 'retrieval-miss', expectedEvidenceIds: [] })
    await queries.decide(ADA, spaceId, query.id, { verdict: 'irrelevant' })
    await queries.decide(ADA, spaceId, query.id, { verdict: 'retrieval-miss', expect: { answer: ['deep'] } })
    await queries.decide(ADA, spaceId, query.id, { verdict: 'retrieval-miss' })
    expect((await golden.get(ADA, spaceId, goldenId)).expect).toEqual({ answer: ['deep'] })
    expect((await golden.list(ADA, spaceId, { limit: 1000 })).items).toHaveLength(before)
    expect((await golden.get(ADA, spaceId, goldenId)).expectedEvidenceIds).toEqual([])
    await golden.delete(ADA, spaceId, goldenId)
    const anew = await queries.decide(ADA, spaceId, query.id, { verdict: 'retrieval-miss' })
    expect((anew.metadata.verdict as { goldenQuestionId: string }).goldenQuestionId).not.toBe(goldenId)
  })

  test('coverage-gap annotates, irrelevant dismisses, and metrics count each status', async () => {
    const { failed: queries } = test_.engine.quality
    const space = await newSpace('counted')
    const ids = []
    for (const query of ['Who baked the bread?', 'Who sold the camel?', 'Who tuned the piano?', 'Who shaved the yak?'])
      ids.push((await failed(query, space)).id)
    expect(await queries.decide(ADA, space, ids[0]!, { verdict: 'coverage-gap' })).toMatchObject({
      status: 'annotated',
    })
    expect(await queries.decide(ADA, space, ids[1]!, { verdict: 'irrelevant' })).toMatchObject({ status: 'dismissed' })
    expect(await queries.decide(ADA, space, ids[2]!, { verdict: 'retrieval-miss' })).toMatchObject({
      status: 'promoted',
    })
    expect(await queries.metrics(ADA, space)).toEqual({
      total: 4,
      promotionRate: 0.25,
      byStatus: {
        'pending-triage': 1,
        triaged: 0,
        'pending-annotation': 0,
        annotated: 1,
        dismissed: 1,
        promoted: 1,
      },
    })
  })

  test('fails with not-found for an unknown query', async () => {
    const { decide } = test_.engine.quality.failed
    await expect(decide(ADA, spaceId, NOBODY, { verdict: 'irrelevant' })).rejects.toMatchObject({ code: 'not-found' })
  })
})

describe('the clusters of failed queries', () => {
  test('contain queries with the same terms, and are listed from the largest to the smallest', async () => {
    const space = await newSpace('clustered')
    const rare = await failed('Who is the mayor of Vienna?', space)
    const often = await failed('How do I knit a jumper?', space)
    const again = await failed('How do I knit a jumper', space)
    const other = await failed('jumpers: how to knit?', space)
    const { clusters } = await test_.engine.quality.failed.clusters(ADA, space, { limit: 200 })
    expect(clusters.map(({ count, failedQueryIds }) => [count, failedQueryIds])).toEqual([
      [3, [often.id, again.id, other.id]],
      [1, [rare.id]],
    ])
    expect(clusters[0]!.representative).toMatchObject({ id: often.id, metadata: { occurrences: 1 } })
    expect((await test_.engine.quality.failed.clusters(ADA, space, { limit: 1 })).clusters).toHaveLength(1)
    const none = await test_.engine.quality.failed.clusters(ADA, space, { limit: 9, status: 'promoted' })
    expect(none).toEqual({ clusters: [] })
  })
})

describe('the triage of failed queries', () => {
  test('distinguishes coverage gaps from irrelevant queries, and changes only queries pending triage', async () => {
    const space = await newSpace('triaged')
    const { failed: queries } = test_.engine.quality
    const foreign = await failed('Who invented the saxophone quartet?', space)
    const gap = await failed('What is the phone number of the harbour of Brest in Cork?', space)
    const decided = await failed('Who painted the ceiling?', space)
    await queries.decide(ADA, space, decided.id, { verdict: 'irrelevant' })
    const report = await queries.triage(ADA, space, { limit: 50 })
    expect(report).toEqual({
      triaged: 2,
      verdicts: { 'retrieval-miss': 0, 'coverage-gap': 1, irrelevant: 1, uncertain: 0 },
    })
    const { items } = await queries.list(ADA, space, LIST)
    const byId = new Map(items.map((item) => [item.id, item]))
    expect(byId.get(foreign.id)).toMatchObject({
      status: 'triaged',
      metadata: { triage: { verdict: 'irrelevant', terms: 3, known: 0, best: 0, causes: [] }, occurrences: 1 },
    })
    expect(byId.get(gap.id)).toMatchObject({
      status: 'triaged',
      metadata: {
        triage: {
          verdict: 'coverage-gap',
          causes: ['kind-missing'],
          wanted: [expect.stringContaining('phone number')],
        },
      },
    })
    expect(byId.get(decided.id)).toMatchObject({ status: 'dismissed' })
    expect(byId.get(decided.id)?.metadata).not.toHaveProperty('triage')
    expect((await queries.triage(ADA, space, { limit: 50 })).triaged).toBe(0)
  })

  test('calls a query whose evidence was added later a retrieval miss, and suggests the new passage', async () => {
    const space = await newSpace('grown')
    const { failed: queries } = test_.engine.quality
    const query = await failed('Who mends the nets of the trawler?', space)
    await ingest(test_.engine, ADA, space, { 'nets.md': '# Nets\n\nOld Kerstin mends the nets of the trawler.\n' })
    expect((await queries.triage(ADA, space, { limit: 1 })).verdicts['retrieval-miss']).toBe(1)
    const { items } = await queries.list(ADA, space, { ...LIST, status: 'triaged' })
    expect(items).toMatchObject([
      { id: query.id, metadata: { triage: { suggestedEvidenceIds: [expect.any(String)] } } },
    ])
  })

  test('processes the oldest queries first, up to the requested number', async () => {
    const space = await newSpace('queued')
    const { failed: queries } = test_.engine.quality
    const first = await failed('Who fixed the gramophone?', space)
    await failed('Who broke the gramophone needle?', space)
    expect((await queries.triage(ADA, space, { limit: 1 })).triaged).toBe(1)
    expect((await queries.list(ADA, space, { ...LIST, status: 'triaged' })).items).toMatchObject([{ id: first.id }])
  })
})

describe('golden questions', () => {
  test('survive a restart and partial updates, and keep their annotation when other metadata is replaced', async () => {
    const created = await test_.engine.quality.golden.create(ADA, spaceId, {
      question: 'What pulls the sea?',
      expectedEvidenceIds: [NOBODY],
      tags: ['basics'],
      metadata: { owner: 'docs' },
    })
    const annotated = await test_.engine.quality.golden.annotate(ADA, spaceId, created.id, {
      answerCorrectness: 'partially-correct',
      evidenceRelevance: [{ evidenceId: NOBODY, relevant: false, note: 'old' }],
    })
    expect(annotated.metadata).toMatchObject({
      owner: 'docs',
      annotation: { answerCorrectness: 'partially-correct', actorSubjectId: 'ada' },
    })
    await test_.reopen()
    const { golden } = test_.engine.quality
    expect(await golden.get(ADA, spaceId, created.id)).toEqual(annotated)
    const updated = await golden.update(ADA, spaceId, created.id, { tags: [], metadata: { owner: 'sea' } })
    expect(updated).toEqual({
      ...annotated,
      tags: [],
      metadata: { annotation: annotated.metadata.annotation, owner: 'sea' },
      updatedAt: updated.updatedAt,
    })
    expect(await golden.update(ADA, spaceId, created.id, { metadata: { annotation: 1 } })).toMatchObject({
      metadata: { annotation: 1 },
    })
    await golden.delete(ADA, spaceId, created.id)
    for (const gone of [() => golden.get(ADA, spaceId, created.id), () => golden.delete(ADA, spaceId, created.id)])
      await expect(gone()).rejects.toMatchObject({ code: 'not-found' })
  })

  test("can be created from the caller's own traces only, and then expect the evidence of the trace", async () => {
    const { golden } = test_.engine.quality
    const { traceId, done } = await ask(test_.engine, ADA, spaceId, 'When do spring tides come?')
    const bundle = done.metadata?.evidenceBundle as { items: { nodeId: string }[] }
    const made = await golden.fromTrace(ADA, spaceId, { traceId, reason: 'wrong month', tags: ['live'] })
    expect(made).toMatchObject({
      question: 'When do spring tides come?',
      expectedEvidenceIds: bundle.items.map((item) => item.nodeId),
      tags: ['live'],
      metadata: {
        origin: { kind: 'production-bad-case', traceId, reason: 'wrong month', evidenceState: 'answerable' },
      },
    })
    const elsewhere = await newSpace('elsewhere')
    for (const attempt of [
      () => golden.fromTrace(CAROL, spaceId, { traceId, tags: [] }),
      () => golden.fromTrace(ADA, elsewhere, { traceId, tags: [] }),
      () => golden.fromTrace(ADA, spaceId, { traceId: NOBODY, tags: [] }),
    ])
      await expect(attempt()).rejects.toMatchObject({ code: 'not-found' })
  })

  test('contain the first 4,000 characters of a longer query, with the complete query in the origin', async () => {
    const query = `Who ${'really '.repeat(700)}won?`
    const { traceId } = await ask(test_.engine, ADA, spaceId, query)
    const made = await test_.engine.quality.golden.fromTrace(ADA, spaceId, { traceId, tags: [] })
    expect(made.question).toBe(query.slice(0, 4000))
    expect(made.metadata.origin).toMatchObject({ query })
  })
})

describe('reviews of missing evidence', () => {
  async function lacking() {
    const { traceId } = await ask(test_.engine, ADA, spaceId, 'Who conducts the orchestra?')
    const { items } = await test_.engine.queries.missing(ADA, traceId, { limit: 10 })
    return { traceId, itemKey: String(items[0]!.metadata.itemKey) }
  }

  test('change only with the current revision, and record every change in the history', async () => {
    const { quality, queries } = test_.engine
    const item = await lacking()
    expect(item.itemKey).toMatch(/^sha256:[0-9a-f]{64}$/)
    expect(await quality.missingHistory(ADA, spaceId, item)).toEqual({ items: [] })
    const body = { expectedRevision: 0, status: 'dismissed' as const, reason: 'not our subject' }
    const first = await quality.reviewMissing(ADA, spaceId, item, body)
    expect(first).toMatchObject({ itemKey: item.itemKey, status: 'dismissed', revision: 1, actorSubjectId: 'ada' })
    for (const expectedRevision of [0, 2])
      await expect(
        quality.reviewMissing(ADA, spaceId, item, { expectedRevision, status: 'active' }),
      ).rejects.toMatchObject({ code: 'version-mismatch' })
    const second = await quality.reviewMissing(ADA, spaceId, item, { expectedRevision: 1, status: 'active' })
    expect(second).toMatchObject({ id: first.id, status: 'active', revision: 2, createdAt: first.createdAt })
    expect(second).not.toHaveProperty('reason')
    const { items } = await quality.missingHistory(ADA, spaceId, item)
    expect(items).toMatchObject([
      { action: 'dismiss', toStatus: 'dismissed', reason: 'not our subject', revision: 1 },
      { action: 'activate', fromStatus: 'dismissed', toStatus: 'active', revision: 2 },
    ])
    expect(items[0]).not.toHaveProperty('fromStatus')
    expect((await queries.missing(ADA, item.traceId, { limit: 10 })).items[0]!.metadata).toMatchObject({
      review: { status: 'active', revision: 2 },
    })
  })

  test('F50: accept exactly one of three concurrent changes with the same expected revision', async () => {
    const item = await lacking()
    const body = { expectedRevision: 0, status: 'dismissed' as const }
    const outcomes = await Promise.allSettled(
      [1, 2, 3].map(() => test_.engine.quality.reviewMissing(ADA, spaceId, item, body)),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  test('fail with not-found for the trace of another caller, another space, and an unknown entry', async () => {
    const item = await lacking()
    const elsewhere = await newSpace('other-sea')
    const body = { expectedRevision: 0, status: 'dismissed' as const }
    const { quality } = test_.engine
    for (const [caller, space, which] of [
      [CAROL, spaceId, item],
      [BOB, spaceId, item],
      [ADA, elsewhere, item],
      [ADA, spaceId, { ...item, itemKey: MISSING }],
      [ADA, spaceId, { ...item, traceId: NOBODY }],
    ] as const) {
      await expect(quality.reviewMissing(caller, space, which, body)).rejects.toMatchObject({ code: 'not-found' })
      await expect(quality.missingHistory(caller, space, which)).rejects.toMatchObject({ code: 'not-found' })
    }
  })
})

describe('the quality data of a space', () => {
  test('can be read by other subjects of its tenant except for traces, and by no other tenant', async () => {
    const space = await newSpace('shared')
    const { golden, failed: queries, traces } = test_.engine.quality
    const made = await golden.create(ADA, space, { question: 'q', expectedEvidenceIds: [], tags: [], metadata: {} })
    const query = await failed('Who hid the violin?', space)
    for (const attempt of [
      () => golden.list(BOB, space, { limit: 10 }),
      () => golden.get(BOB, space, made.id),
      () => golden.update(BOB, space, made.id, {}),
      () => golden.delete(BOB, space, made.id),
      () => golden.create(BOB, space, { question: 'q', expectedEvidenceIds: [], tags: [], metadata: {} }),
      () => queries.list(BOB, space, LIST),
      () => queries.metrics(BOB, space),
      () => queries.clusters(BOB, space, { limit: 10 }),
      () => queries.triage(BOB, space, { limit: 10 }),
      () => queries.decide(BOB, space, query.id, { verdict: 'irrelevant' }),
      () => traces(BOB, space, { limit: 10 }),
    ])
      await expect(attempt()).rejects.toMatchObject({ code: 'not-found' })
    // Ids of one space do not exist in another one.
    await expect(golden.get(ADA, spaceId, made.id)).rejects.toMatchObject({ code: 'not-found' })
    await expect(queries.decide(ADA, spaceId, query.id, { verdict: 'irrelevant' })).rejects.toMatchObject({
      code: 'not-found',
    })
    expect((await golden.list(CAROL, space, { limit: 10 })).items).toEqual([made])
    expect((await queries.list(CAROL, space, LIST)).items).toHaveLength(1)
    expect((await traces(ADA, space, { limit: 10 })).items).toHaveLength(1)
    expect((await traces(CAROL, space, { limit: 10 })).items).toEqual([])
  })
})
