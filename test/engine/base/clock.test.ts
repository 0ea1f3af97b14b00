import { afterEach, expect, it } from 'vitest'
import { isStillAhead } from '../../../src/engine/base/due.js'
import { rowsOf } from '../../helpers/databases.js'
import { ADA, startEngine, type TestEngine, uploadOne } from '../../helpers/engine.js'
import { until } from '../../helpers/until.js'

const YEAR = 365 * 24 * 3_600_000

let test: TestEngine | undefined
afterEach(() => test?.end())

it('F35: a job postponed before the clock was set back by a year runs at once instead of waiting for the year', async () => {
  test = await startEngine()
  const { id: spaceId } = await test.engine.spaces.create(ADA, { name: 'Late', slug: 'late' })
  const rows = rowsOf(test.dataDir)
  // The reopen may come only after the last durable step of the job: then another document is tried.
  const planAhead = 'UPDATE jobs SET run_after = ?, waits = 1 WHERE completed_at IS NULL'
  for (let n = 0; ; n++) {
    await uploadOne(test.engine, ADA, spaceId, { filename: `${n}.md`, text: `# Note ${n}\n\nA line of it.\n` })
    await test.engine.close()
    if ((await rows.run(planAhead, Date.now() + YEAR)) > 0) break
    expect(n).toBeLessThan(20)
    await test.reopen()
  }
  const open = () => rows.value('SELECT count(*) FROM jobs WHERE completed_at IS NULL')
  expect(open()).toBe(1)
  await test.reopen()
  await until(() => open() === 0)
  expect(rows.value("SELECT count(*) FROM jobs WHERE stage <> 'published'")).toBe(0)
})

it('F35: a run planned further ahead than the longest delay counts as due, because the clock was set back', () => {
  expect([999, 1000, 1001, 1060, 1061, YEAR].map((at) => isStillAhead(at, 1000, 60))).toEqual([
    false,
    false,
    true,
    true,
    false,
    false,
  ])
})
