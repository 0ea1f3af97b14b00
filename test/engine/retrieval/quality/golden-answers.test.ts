import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ExpectedAnswer } from '../../../../src/contract/gateway/golden-questions.js'
import { ADA, ask, BOB, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'

const NOTICE = { 'notice.md': '# Notice\n\nThe notice period of the staff is four weeks.\n' }

let test: TestEngine
let spaceId = ''

beforeAll(async () => {
  test = await startEngine()
  spaceId = (await test.engine.spaces.create(ADA, { name: 'Staff', slug: 'staff' })).id
  await ingest(test.engine, ADA, spaceId, NOTICE)
})
afterAll(() => test.end())

const golden = () => test.engine.quality.golden

async function add(question: string, expect?: ExpectedAnswer) {
  const body = {
    question,
    expectedEvidenceIds: [],
    tags: [],
    metadata: {},
    ...(expect === undefined ? {} : { expect }),
  }
  return await golden().create(ADA, spaceId, body)
}

describe('a golden question with an expected answer', () => {
  it('keeps the expectation through updates and annotations until a client removes it', async () => {
    const expected: ExpectedAnswer = { answer: ['four weeks'], not: ['two weeks'], state: 'answerable' }
    const { id, expect: stored } = await add('How long is the notice?', expected)
    expect(stored).toEqual(expected)
    await golden().update(ADA, spaceId, id, { tags: ['staff'] })
    await golden().annotate(ADA, spaceId, id, { answerCorrectness: 'correct', evidenceRelevance: [] })
    expect((await golden().get(ADA, spaceId, id)).expect).toEqual(expected)
    expect((await golden().update(ADA, spaceId, id, { expect: { not: ['a year'] } })).expect).toEqual({
      not: ['a year'],
    })
    expect(await golden().update(ADA, spaceId, id, { expect: null })).not.toHaveProperty('expect')
  })

  it('can be created from a trace, and fails with not-found for another tenant', async () => {
    const { traceId } = await ask(test.engine, ADA, spaceId, 'Who sets the notice period?')
    const made = await golden().fromTrace(ADA, spaceId, { traceId, tags: [], expect: { not: ['four weeks'] } })
    expect(made.expect).toEqual({ not: ['four weeks'] })
    await expect(golden().get(BOB, spaceId, made.id)).rejects.toMatchObject({ code: 'not-found' })
  })
})
