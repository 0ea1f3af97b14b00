import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FailedQuery } from '../../../../src/contract/gateway/failed-queries.js'
import { ADA, ask, ingest } from '../../../helpers/engine.js'
import { until } from '../../../helpers/until.js'
import { startWithModel } from './with-model.js'

const PAGES = {
  'parking.md':
    '# Visitor parking\n\nParking in the yard costs two euros an hour. Tickets come from the machine at the gate.\n',
  'laser.md':
    '# Laser cutter\n\nThe laser cutter in hall C cuts steel up to 12 millimetres thick. Its lens is cleaned weekly.\n',
  'leave.md':
    '# Annual leave\n\nEvery employee is entitled to 28 days of annual leave. Requests go to the personnel office.\n',
}
/** Reply of the fake model when it receives passages of a failed query; it declines every question. */
let judges = ''
let test_: Awaited<ReturnType<typeof startWithModel>>
let spaces = 0

beforeAll(async () => {
  test_ = await startWithModel((messages) => {
    const system = messages[0]?.content ?? ''
    if (!system.includes('A search did not answer'))
      return system.includes('search words') ? '' : 'The sources do not answer the question.'
    return judges
  })
})
afterAll(() => test_.end())

async function newSpace(): Promise<string> {
  const slug = `causes-${++spaces}`
  const { id } = await test_.engine.spaces.create(ADA, { name: slug, slug })
  await ingest(test_.engine, ADA, id, PAGES)
  return id
}

async function fail(space: string, query: string, extra: Parameters<typeof ask>[4] = {}): Promise<void> {
  const { traceId } = await ask(test_.engine, ADA, space, query, extra)
  await until(async () => (await failedOf(space)).some(({ answerTraceId }) => answerTraceId === traceId))
}

async function failedOf(space: string): Promise<FailedQuery[]> {
  return (await test_.engine.quality.failed.list(ADA, space, { limit: 50 })).items
}

/** Triage results of the queries of a space, newest first. */
async function triaged(space: string): Promise<unknown[]> {
  await test_.engine.quality.failed.triage(ADA, space, { limit: 50 })
  return (await failedOf(space)).map(({ metadata }) => metadata['triage'])
}

describe('triage without a usable opinion of the model', () => {
  beforeAll(() => {
    judges = 'I would rather not say.'
  })

  test.each([
    ['retrieval-miss', 'spelling', 'How thick may steal be for the lazer cuter?'],
    ['retrieval-miss', 'other-words', 'What is the price of parking my car in the yard?'],
    [
      'retrieval-miss',
      'several-questions',
      'What does parking in the yard cost, and how thick can the laser cutter cut steel?',
    ],
    ['coverage-gap', 'kind-missing', 'Who repairs the laser cutter?'],
    ['coverage-gap', 'kind-missing', 'In which year was the laser cutter in hall C bought?'],
    [
      'retrieval-miss',
      'long-question',
      'Yesterday my aunt Ottilie visited our factory by motorcycle, brought homemade marmalade, chatted with colleagues about gardening, and wondered afterwards how expensive an hour of parking in the yard would be?',
    ],
  ])('reports %s because of %s: %s', async (verdict, cause, query) => {
    const space = await newSpace()
    await fail(space, query)
    const [triage] = await triaged(space)
    expect(triage).toMatchObject({ verdict, triager: 'builtin-evidence', causes: expect.arrayContaining([cause]) })
  })

  test('calls a question in another language uncertain instead of irrelevant', async () => {
    const space = await newSpace()
    await fail(space, 'Wer hat die Oper über den Seefahrer geschrieben?')
    const [triage] = await triaged(space)
    expect(triage).toMatchObject({ verdict: 'uncertain', causes: expect.arrayContaining(['other-language']) })
  })

  test('suggests a passage of another document for a question that was limited to one document', async () => {
    const space = await newSpace()
    const { items } = await test_.engine.documents.list(ADA, space, { limit: 50 })
    const laser = items.find(({ filename }) => filename === 'laser.md')
    if (laser === undefined) throw new Error('it was ingested')
    await fail(space, 'What does parking in the yard cost?', { activeDocumentIds: [laser.id] })
    const [triage] = await triaged(space)
    expect(triage).toMatchObject({
      verdict: 'retrieval-miss',
      causes: expect.arrayContaining(['limited-to-documents']),
      suggestedEvidenceIds: [expect.any(String)],
    })
  })

  test('reports published-later for an answer that was published after the query', async () => {
    const space = await newSpace()
    await fail(space, 'Who tunes the grand piano of the foyer?')
    await ingest(test_.engine, ADA, space, {
      'piano.md': '# Piano\n\nElsa Brandt tunes the grand piano of the foyer.\n',
    })
    const [triage] = await triaged(space)
    expect(triage).toMatchObject({ verdict: 'retrieval-miss', causes: expect.arrayContaining(['published-later']) })
  })

  test('reports below-threshold for passages that the threshold of the profile excluded', async () => {
    const space = await newSpace()
    await test_.engine.spaces.setRetrievalProfile(ADA, space, {
      defaultMode: 'fast',
      modes: ['fast'],
      topK: 10,
      scoreThreshold: 1,
      rerank: { enabled: true },
    })
    await fail(space, 'What is the fee for parking?')
    const [triage] = await triaged(space)
    expect(triage).toMatchObject({ verdict: 'retrieval-miss', causes: expect.arrayContaining(['below-threshold']) })
  })

  test('reports irrelevant without causes for a question about nothing in the space', async () => {
    const space = await newSpace()
    await fail(space, 'Who invented the saxophone quartet?')
    expect(await triaged(space)).toMatchObject([{ verdict: 'irrelevant', causes: [] }])
  })
})

describe('triage with an opinion of the model', () => {
  test.each([
    ['answered', 'retrieval-miss'],
    ['related', 'coverage-gap'],
  ])('follows the opinion "%s" against the rules, with the verdict %s', async (says, verdict) => {
    const space = await newSpace()
    judges = JSON.stringify({ verdict: says, passages: [1, 99] })
    await fail(space, 'What does parking in the yard cost?')
    const [triage] = await triaged(space)
    expect(triage).toMatchObject({ verdict, model: says, triager: 'model-evidence' })
    if (says === 'answered') expect(triage).toMatchObject({ suggestedEvidenceIds: [expect.any(String)] })
    else expect(triage).toMatchObject({ wanted: [expect.stringContaining('price')] })
  })

  test('does not accept the opinion "unrelated" if one passage contains most of the question', async () => {
    const space = await newSpace()
    judges = '{"verdict": "unrelated", "passages": []}'
    await fail(space, 'What does parking in the yard cost?')
    expect(await triaged(space)).toMatchObject([{ verdict: 'uncertain', model: 'unrelated' }])
  })

  test('calls a failing model only once, and classifies all queries by rules', async () => {
    const space = await newSpace()
    judges = '{"verdict": "related", "passages": []}'
    for (const query of ['What does parking in the yard cost?', 'How thick can the laser cutter cut steel?'])
      await fail(space, query)
    const before = test_.fake.requests.length
    test_.fake.always({ kind: 'status', status: 400 })
    try {
      expect(await triaged(space)).toMatchObject([
        { verdict: 'retrieval-miss', triager: 'builtin-evidence' },
        { verdict: 'retrieval-miss', triager: 'builtin-evidence' },
      ])
    } finally {
      test_.fake.always()
    }
    expect(test_.fake.requests.length - before).toBe(1)
  })
})

test('failed queries without shared words form one cluster if they point to the same sentence', async () => {
  const space = await newSpace()
  for (const query of [
    'What does parking in the yard cost?',
    'fee for leaving a car',
    'How thick may steel be for the laser cutter?',
  ])
    await fail(space, query)
  const { clusters } = await test_.engine.quality.failed.clusters(ADA, space, { limit: 9 })
  expect(clusters.map(({ count }) => count)).toEqual([2, 1])
  expect(clusters[0]?.representative.metadata).not.toHaveProperty('pointed')
})
