import { afterEach, beforeEach, expect, it } from 'vitest'
import type { AnswerFrame } from '../../../../src/engine/base/query-run.js'
import { ADA, ask, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'

const TEXT = '# Lighthouse\n\nThe lighthouse of Westerheversand was built in 1908 and is forty metres tall.\n'
const BODY = { query: 'When was the lighthouse built?', activeDocumentIds: [], activeEntityIds: [] }

let test: TestEngine
let spaceId: string

beforeEach(async () => {
  test = await startEngine()
  spaceId = (await test.engine.spaces.create(ADA, { name: 'N', slug: 'n' })).id
  await ingest(test.engine, ADA, spaceId, { 'lighthouse.md': TEXT })
})
afterEach(() => test.end())

/**
 * Runs a query and aborts it at the first frame of the event `leaves`. Returns the events that were sent all the same.
 */
async function leaveAt(leaves: AnswerFrame['event']) {
  const controller = new AbortController()
  const run = await test.engine.queries.start(ADA, { knowledgeSpaceId: spaceId, ...BODY }, controller.signal)
  const events: string[] = []
  for await (const frame of run.frames()) {
    events.push(frame.event)
    if (frame.event === leaves) controller.abort(new Error('the client has gone'))
  }
  return { ...run, events }
}

it('a query whose client disconnects before the complete answer stores no trace, session or failed query', async () => {
  const { traceId, sessionId, events } = await leaveAt('answer.delta')
  expect(new Set(events)).toEqual(new Set(['answer.delta']))
  await expect(test.engine.queries.trace(ADA, traceId)).rejects.toMatchObject({ code: 'not-found' })
  // A session exists from its first complete query on.
  expect((await ask(test.engine, ADA, spaceId, 'And how tall is it?', { sessionId })).sessionId).not.toBe(sessionId)
  const { items } = await test.engine.quality.failed.list(ADA, spaceId, { limit: 10 })
  expect(items.filter(({ query }) => query === BODY.query)).toEqual([])
})

it('a query whose client disconnects after the complete answer keeps its trace', async () => {
  const { traceId, events } = await leaveAt('answer.done')
  expect(events.at(-1)).toBe('answer.done')
  expect(await test.engine.queries.trace(ADA, traceId)).toMatchObject({ id: traceId })
})

it('a query whose client disconnects frees its slot of the query gate for the next query', async () => {
  await test.end()
  const limits = { uploadBytes: 1e6, bulkFiles: 10, bulkBytes: 1e6, concurrentQueries: 1, waitingQueries: 0 }
  test = await startEngine({ limits: { ...limits, spacesPerTenant: 10 } })
  spaceId = (await test.engine.spaces.create(ADA, { name: 'N', slug: 'n' })).id
  await ingest(test.engine, ADA, spaceId, { 'lighthouse.md': TEXT })
  await leaveAt('answer.delta')
  expect((await ask(test.engine, ADA, spaceId, BODY.query)).answer).toContain('1908')
})
