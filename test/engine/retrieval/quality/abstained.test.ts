import { afterAll, beforeAll, expect, test } from 'vitest'
import { ADA, ask, ingest } from '../../../helpers/engine.js'
import { until } from '../../../helpers/until.js'
import { startWithModel } from './with-model.js'

let test_: Awaited<ReturnType<typeof startWithModel>>
let reply = ''

beforeAll(async () => {
  test_ = await startWithModel(() => reply)
})
afterAll(() => test_.end())

test('a question that the model declines although a passage answers it is triaged as a retrieval miss', async () => {
  const { engine } = test_
  const { id } = await engine.spaces.create(ADA, { name: 'L', slug: 'l' })
  await ingest(engine, ADA, id, { 'a.md': '# Lighthouse\n\nThe lighthouse of Westerhever was built in 1908.\n' })
  reply = 'It was built in 1908 [1].'
  await ask(engine, ADA, id, 'When was the lighthouse of Westerhever built?')
  reply = 'The passages do not say.'
  const { traceId } = await ask(engine, ADA, id, 'In which year was the Westerhever lighthouse built?')
  const { failed } = engine.quality
  await until(async () => (await failed.list(ADA, id, { limit: 9 })).items.length > 0)
  expect((await failed.list(ADA, id, { limit: 9 })).items).toMatchObject([
    { trigger: 'abstained', answerTraceId: traceId, metadata: { occurrences: 1 } },
  ])
  expect(await failed.triage(ADA, id, { limit: 9 })).toMatchObject({ triaged: 1, verdicts: { 'retrieval-miss': 1 } })
})
