import { expect, test } from 'vitest'
import { rowsOf } from '../../../helpers/databases.js'
import { ADA, startEngine } from '../../../helpers/engine.js'
import { until } from '../../../helpers/until.js'
import { eventsOf, research, spaceWith, TWO_PART, untilTaskEnded } from './helpers.js'

const DAY = 24 * 60 * 60_000
const TABLES = ['research_tasks', 'research_steps', 'research_partials', 'research_events', 'research_costs']

const count = (dataDir: string, sql: string) => rowsOf(dataDir).value(`SELECT (${sql}) n`)

test('a research task that runs while the engine closes continues after its last step at the next start', async () => {
  const tested = await startEngine()
  const spaceId = await spaceWith(tested.engine)
  const { id } = await tested.engine.research.create(ADA, { knowledgeSpaceId: spaceId, query: TWO_PART })
  const told: string[] = []
  for await (const { event } of await tested.engine.research.events(
    ADA,
    id,
    { limit: 3 },
    new AbortController().signal,
  ))
    told.push(event)
  await tested.reopen()
  expect(await untilTaskEnded(tested.engine, id)).toMatchObject({ stage: 'completed' })
  const events = await eventsOf(tested.engine, id)
  expect(events.slice(0, 3).map(({ event }) => event)).toEqual(told)
  expect(events.filter(({ event }) => event === 'research.stage')).toHaveLength(5)
  await tested.end()
})

test('the evidence of research steps expires by evidenceCacheRetentionDays; that of the report stays', async () => {
  let ahead = 0
  const schedule = { intervalMs: DAY, batchRows: 2 }
  const tested = await startEngine({ now: () => Date.now() + ahead, retention: schedule })
  const spaceId = await spaceWith(tested.engine)
  const { id } = await research(tested.engine, spaceId)
  const partials = async () => (await tested.engine.research.partials(ADA, id, { limit: 50 })).items
  const { evidenceBundleId } = await tested.engine.research.report(ADA, id)
  const before = await partials()
  expect(before.length).toBeGreaterThan(1)
  await tested.engine.retention.setSpace(ADA, spaceId, { evidenceCacheRetentionDays: 20 })
  schedule.intervalMs = 30
  for (const days of [19, 2]) {
    ahead += days * DAY
    await tested.reopen()
    if (ahead < 20 * DAY) expect(await partials()).toEqual(before)
    else await until(async () => (await partials()).length === 1)
  }
  expect(await partials()).toEqual(before.slice(-1))
  expect((await tested.engine.research.report(ADA, id)).evidenceBundleId).toBe(evidenceBundleId)
  expect(JSON.stringify(before.at(-1))).toContain(evidenceBundleId)
  await tested.end()
})

test('research tasks that ended 91 days ago expire with their rows and bytes, and a younger one stays', async () => {
  let ahead = 0
  const schedule = { intervalMs: DAY, batchRows: 2 }
  const tested = await startEngine({ now: () => Date.now() + ahead, retention: schedule })
  const spaceId = await spaceWith(tested.engine)
  for (let made = 0; made < 3; made++) await research(tested.engine, spaceId)
  const bytes = `SELECT trace_bytes FROM space_usage`
  const held = `SELECT (SELECT sum(octet_length(body)) FROM research_steps) + (SELECT sum(octet_length(body)) FROM research_partials)`
  expect(count(tested.dataDir, bytes)).toBe(count(tested.dataDir, held))
  ahead = 91 * DAY
  const young = await research(tested.engine, spaceId)
  schedule.intervalMs = 30
  await tested.reopen()
  await until(() => count(tested.dataDir, 'SELECT count(*) FROM research_tasks') === 1)
  expect((await tested.engine.research.list(ADA, { limit: 10 })).items.map(({ id }) => id)).toEqual([young.id])
  expect(count(tested.dataDir, bytes)).toBe(count(tested.dataDir, held))
  for (const table of TABLES.slice(1))
    expect(count(tested.dataDir, `SELECT count(*) FROM ${table} WHERE task_id <> '${young.id}'`), table).toBe(0)
  await tested.end()
})

test('deleting a space removes all rows of its research tasks and ends their event streams', async () => {
  const tested = await startEngine()
  const spaceId = await spaceWith(tested.engine)
  const { id } = await tested.engine.research.create(ADA, { knowledgeSpaceId: spaceId, query: TWO_PART })
  const following = eventsOf(tested.engine, id).catch((error: { code: string }) => error.code)
  await tested.engine.spaces.delete(ADA, spaceId)
  await following
  await until(() => TABLES.every((table) => count(tested.dataDir, `SELECT count(*) FROM ${table}`) === 0))
  await tested.end()
})
