import { afterEach, expect, it } from 'vitest'
import { rowsOf } from '../../../helpers/databases.js'
import { ADA, startEngine, type TestEngine, uploadOne } from '../../../helpers/engine.js'
import { until } from '../../../helpers/until.js'

/** The shortest first pause. */
const FIRST_MS = 500

let test: TestEngine | undefined
afterEach(() => test?.end())

/** Makes the database reject everything stored for files of that name, `times` times. */
async function refuse(dataDir: string, filename: string): Promise<() => Promise<unknown>> {
  const { run } = rowsOf(dataDir)
  await run(`CREATE TRIGGER refused BEFORE INSERT ON versions
    WHEN (SELECT filename FROM documents WHERE key = NEW.doc_key) = '${filename}'
    BEGIN SELECT RAISE(ABORT, 'refused by the test'); END`)
  return () => run('DROP TRIGGER refused')
}

it('a failed job runs again after a growing pause and not earlier, however busy the runner is', async () => {
  const failed: number[] = []
  const warn = (_: object, message: string) => {
    if (message.includes('failed and is retried')) failed.push(performance.now())
  }
  test = await startEngine({ log: { debug() {}, info() {}, warn, error() {} } })
  const { engine, dataDir } = test
  const { id } = await engine.spaces.create(ADA, { name: 'Bad', slug: 'bad' })
  const { id: other } = await engine.spaces.create(ADA, { name: 'Good', slug: 'good' })
  const allow = await refuse(dataDir, 'bad.md')
  const { compilationJob } = await uploadOne(engine, ADA, id, { filename: 'bad.md', text: '# Bad\n\nA line.\n' })
  // Every upload wakes the runner, which then claims what is due.
  for (let n = 0; failed.length < 3; n++) {
    const accepted = await uploadOne(engine, ADA, other, { filename: `${n}.md`, text: `# Good ${n}\n\nA line.\n` })
    await engine.documents.settled(ADA, other, accepted)
  }
  const [first = 0, second = 0, third = 0] = failed
  expect(second - first).toBeGreaterThanOrEqual(FIRST_MS)
  expect(third - second).toBeGreaterThanOrEqual(2 * FIRST_MS)
  const listed = async () => (await engine.jobs.list(ADA, id, { limit: 1 })).items[0]
  await until(async () => (await listed())?.attempts === 3)
  expect((await listed())?.error).toContain('refused by the test')
  await allow()
  await until(async () => (await engine.jobs.get(ADA, compilationJob.id)).stage === 'published')
})
