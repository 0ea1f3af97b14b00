import { afterEach, expect, test } from 'vitest'
import { rowsOf } from '../../../helpers/databases.js'
import { ADA, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { until } from '../../../helpers/until.js'
import { allIssues, codes } from '../../upkeep/integrity/space.js'

const WAIT_MS = 60_000

let running: TestEngine | undefined
afterEach(async () => {
  await running?.end()
  running = undefined
})

/** A text that shares words with others, so that a model can be trained on them. */
function text(place: number): string {
  const words = Array.from({ length: 40 }, (_, word) => `subject${(place * 7 + word * word * 3) % 90}`)
  return `# Text ${place}\n\n${words.join(' ')} only${place}\n`
}

const COUNT = 'SELECT count(*) n FROM vectors JOIN vector_spaces ON vector_spaces.key = vector_space WHERE state = ?'

function vectors(dataDir: string): number {
  return rowsOf(dataDir).value(COUNT, 'active')
}

test('a vector lost at runtime is noticed by the next audit and computed again', async () => {
  running = await startEngine({ vectorAuditMs: 500 })
  const { engine, dataDir } = running
  const { id } = await engine.spaces.create(ADA, { name: 'Lost', slug: 'lost' })
  const names = Array.from({ length: 40 }, (_, place): [string, string] => [`t${place}.md`, text(place)])
  // A passage of unique words can have no vector: the audit accepts that.
  await ingest(engine, ADA, id, { ...Object.fromEntries(names), 'odd.md': 'zyxwvut qponmlk' })
  await until(() => vectors(dataDir) > 0, WAIT_MS)
  const whole = vectors(dataDir)
  await rowsOf(dataDir).run(
    'DELETE FROM vectors WHERE node_key IN (SELECT node_key FROM vectors ORDER BY node_key LIMIT 3)',
  )
  await until(() => vectors(dataDir) === whole, WAIT_MS)
  // The index has them, too.
  expect(codes(await allIssues(engine, id, 'references'))).toEqual({})
})

test('vectors that are missing at a start are computed again, without an upload', async () => {
  running = await startEngine()
  const { engine, dataDir } = running
  const { id } = await engine.spaces.create(ADA, { name: 'Start', slug: 'start' })
  await ingest(
    engine,
    ADA,
    id,
    Object.fromEntries(Array.from({ length: 40 }, (_, place) => [`t${place}.md`, text(place)])),
  )
  await until(() => vectors(dataDir) > 0, WAIT_MS)
  const whole = vectors(dataDir)
  await rowsOf(dataDir).run(
    'DELETE FROM vectors WHERE node_key IN (SELECT node_key FROM vectors ORDER BY node_key DESC LIMIT 5)',
  )
  await running.reopen()
  await until(() => vectors(dataDir) === whole, WAIT_MS)
})
