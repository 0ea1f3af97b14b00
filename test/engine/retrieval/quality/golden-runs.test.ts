import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CreateGoldenRunBody, type GoldenRun } from '../../../../src/contract/gateway/golden-runs.js'
import type { Caller } from '../../../../src/engine/base/caller.js'
import { rowsOf } from '../../../helpers/databases.js'
import { ADA, BOB, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { until } from '../../../helpers/until.js'

const NOTICE = '# Notice\n\nThe notice period of the staff is four weeks.\n'
const QUESTION = 'What is the notice period of the staff?'
const EVE: Caller = { tenant: ADA.tenant, subject: 'eve' }

let test: TestEngine
let spaceId = ''
const runs = () => test.engine.quality.runs

beforeAll(async () => {
  test = await startEngine()
  spaceId = (await test.engine.spaces.create(ADA, { name: 'Staff', slug: 'staff' })).id
  await ingest(test.engine, ADA, spaceId, { 'staff/notice.md': NOTICE })
  await test.engine.quality.golden.create(ADA, spaceId, {
    question: QUESTION,
    expectedEvidenceIds: [],
    expect: { answer: ['four weeks'], not: ['two weeks'] },
    tags: ['staff'],
    metadata: { expect: [{ document: 'notice.md', heading: 'Notice', quote: 'FOUR weeks' }] },
  })
})
afterAll(() => test.end())

async function runToEnd(body: object = {}): Promise<GoldenRun> {
  const { id } = await runs().create(ADA, spaceId, CreateGoldenRunBody.parse(body))
  await until(async () => (await runs().get(ADA, spaceId, id)).status !== 'running')
  return await runs().get(ADA, spaceId, id)
}

const resultsOf = async (run: GoldenRun) => (await runs().results(ADA, spaceId, run.id, { limit: 10 })).items

describe('a golden run', () => {
  it('stores the recall, answerability and answer of each question, and their averages', async () => {
    const run = await runToEnd({ mode: 'fast' })
    const metrics = { questions: 1, recall: 1, mrr: 1, answerable: 1, answer: 1 }
    expect(run).toMatchObject({ status: 'completed', mode: 'fast', k: 50, questions: 1, done: 1, passed: 1, metrics })
    const [result] = await resultsOf(run)
    expect(result).toMatchObject({ index: 0, question: QUESTION, status: 'measured', outcome: 'passed', recall: 1 })
    expect(result?.answer).toMatchObject({ right: true, text: expect.stringContaining('four weeks') })
    expect(result?.evidence).toHaveLength(1)
  })

  it('reports questions without their expected passage as unresolved, and without a label as unlabelled', async () => {
    const lost = '00000000-0000-7000-8000-000000000000'
    const run = await runToEnd({
      questions: [
        { id: 'a', question: QUESTION, anchors: [{ document: 'notice.md', quote: 'five weeks' }] },
        { id: 'b', question: QUESTION, expectedEvidenceIds: [lost] },
        { id: 'c', question: QUESTION },
      ],
    })
    const results = (await resultsOf(run)).sort((a, b) => a.index - b.index)
    expect(results.map(({ status, unresolved }) => [status, unresolved])).toEqual([
      ['unresolved', ['staff/notice.md does not contain the quote']],
      ['unresolved', [`no passage has the id ${lost} any more`]],
      ['unlabelled', []],
    ])
    expect(run).toMatchObject({ done: 3, passed: 0, metrics: { questions: 0 } })
  })

  it('can be read only by the subject that started it, and fails with invalid-request for an unused tag', async () => {
    const run = await runToEnd({ tags: ['staff'] })
    expect((await runs().list(ADA, spaceId, { limit: 1 })).items).toEqual([run])
    expect((await runs().list(EVE, spaceId, { limit: 10 })).items).toEqual([])
    for (const caller of [EVE, BOB])
      await expect(runs().results(caller, spaceId, run.id, { limit: 1 })).rejects.toMatchObject({ code: 'not-found' })
    const body = CreateGoldenRunBody.parse({ tags: ['none'] })
    await expect(runs().create(ADA, spaceId, body)).rejects.toMatchObject({ code: 'invalid-request' })
  })

  it('keeps its measurements and loses the text of an answer when the trace of the query is deleted', async () => {
    const run = await runToEnd()
    const [before] = await resultsOf(run)
    await rowsOf(test.dataDir).run(`DELETE FROM traces WHERE id = '${before?.traceId}'`)
    const [after] = await resultsOf(run)
    expect(after).toMatchObject({ recall: 1, answer: { right: true } })
    expect(after).not.toHaveProperty('traceId')
    expect(after?.answer).not.toHaveProperty('text')
  })

  it('cannot be read after its deletion, and leaves no results', async () => {
    const run = await runToEnd()
    await runs().delete(ADA, spaceId, run.id)
    await expect(runs().get(ADA, spaceId, run.id)).rejects.toMatchObject({ code: 'not-found' })
    const rows = rowsOf(test.dataDir)
    expect(rows.value(`SELECT count(*) FROM golden_run_results WHERE run_id = '${run.id}'`)).toBe(0)
  })

  it('ends as failed after a restart if the gateway that executed it is lost', async () => {
    const run = await runToEnd()
    const rows = rowsOf(test.dataDir)
    await rows.run(
      `UPDATE golden_runs SET claimed_by = 'lost', completed_at = NULL, metrics = NULL WHERE id = '${run.id}'`,
    )
    expect(await runs().get(ADA, spaceId, run.id)).toMatchObject({ status: 'running' })
    await test.reopen()
    expect(await runs().get(ADA, spaceId, run.id)).toMatchObject({
      status: 'failed',
      error: 'the service stopped before the run was done',
    })
  })
})
