import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Database } from '../../../../src/engine/store/database.js'
import { isProgram, type Write } from '../../../../src/engine/store/program.js'
import { ADA, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { until } from '../../../helpers/until.js'

const NOTES = 60
/** Tests run the program of every write twice, see `test/programs-run-twice.ts`. */
const RUNS = 2

let test: TestEngine
let spaceId: string

beforeEach(async () => {
  test = await startEngine()
  spaceId = (await test.engine.spaces.create(ADA, { name: 'Notes', slug: 'notes' })).id
})
afterEach(async () => {
  vi.restoreAllMocks()
  await test.end()
})

const notes = () =>
  Object.fromEntries(
    Array.from({ length: NOTES }, (_, place) => [
      `note-${place}.md`,
      `# Note ${place}\n\nThe harbour has berth ${place}.\n`,
    ]),
  )
const idle = () => until(async () => (await test.engine.activity()).backgroundTasks === 0)

/** The number of matching statements of each transaction that had any. */
function countIn(text: string): number[] {
  const counts: number[] = []
  let now = 0
  const counted = <T>(work: () => Write<T> | T) =>
    function* (): Write<T> {
      now = 0
      const made = work()
      const value = isProgram(made) ? ((yield* made) as T) : made
      if (now > 0) counts.push(now)
      now = 0 // A write may contain another write.
      return value
    }
  const { write, execute } = Database.prototype
  vi.spyOn(Database.prototype, 'write').mockImplementation(function (this: Database, work) {
    return write.call(this, counted(work))
  })
  vi.spyOn(Database.prototype, 'execute').mockImplementation(function (this: Database, asked) {
    if (asked.verb === 'run' && asked.sql.includes(text)) now += 'lists' in asked ? asked.lists.length : 1
    return execute.call(this, asked)
  })
  return counts
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0)

it('page indexes of small documents are stored in batches', async () => {
  const counts = countIn('INTO page_index')
  await ingest(test.engine, ADA, spaceId, notes())
  await idle()
  expect(sum(counts)).toBe(NOTES * RUNS)
  expect(counts.length).toBeLessThan((NOTES / 4) * RUNS)
  expect(Math.max(...counts)).toBeLessThanOrEqual(32)
})

it('claims that small documents state, the basis of conflicts, are stored in batches', async () => {
  const claims = countIn('INTO conflict_claims')
  await ingest(test.engine, ADA, spaceId, notes())
  const listed = () => test.engine.quality.conflicts(ADA, spaceId, { limit: 50, includeDifferences: 'true' })
  await until(async () => (await listed()).pendingDocuments === 0)
  expect(sum(claims)).toBe(NOTES * RUNS)
  expect(claims.length).toBeLessThan((NOTES / 4) * RUNS)
})

it('the job of a document needs two updates from its claim to its publication', async () => {
  const counts = countIn('UPDATE jobs SET stage')
  const accepted = await ingest(test.engine, ADA, spaceId, notes())
  expect(sum(counts)).toBe(2 * NOTES * RUNS)
  for (const { compilationJob } of accepted)
    expect((await test.engine.jobs.get(ADA, compilationJob.id)).stage).toBe('published')
})
