import { afterEach, expect, test } from 'vitest'
import { rowsOf } from '../../../helpers/databases.js'
import { ADA, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { until } from '../../../helpers/until.js'

let running: TestEngine | undefined

afterEach(async () => {
  await running?.end()
  running = undefined
})

/** A text that shares words with others, so that a model can be trained on them. */
function sharedWords(place: number, salt = 3): string {
  const words = Array.from({ length: 40 }, (_, word) => `subject${(place * 7 + word * word * salt) % 90}`)
  return `# Text ${place}\n\n${words.join(' ')} only${place}\n`
}

/** Counters kept by triggers, with the same counted row by row. */
function counts(dataDir: string) {
  const rows = rowsOf(dataDir)
  return {
    kept: rows.all(`SELECT vector_spaces.id, coalesce(live, 0) vectors FROM vector_spaces
         LEFT JOIN vector_counts ON vector_space = key ORDER BY key`),
    counted: rows.all(`SELECT vector_spaces.id, count(versions.key) vectors FROM vector_spaces
         LEFT JOIN vectors ON vectors.vector_space = vector_spaces.key
         LEFT JOIN nodes ON nodes.key = vectors.node_key
         LEFT JOIN versions ON versions.key = nodes.version_key AND versions.until_revision IS NULL
         GROUP BY vector_spaces.key ORDER BY vector_spaces.key`),
    left: rows.value('SELECT count(*) FROM vector_counts WHERE vector_space NOT IN (SELECT key FROM vector_spaces)'),
  }
}

function hasVectors(dataDir: string, least: number): boolean {
  return (
    rowsOf(dataDir).value(
      "SELECT coalesce(max(live), 0) FROM vector_counts JOIN vector_spaces ON key = vector_space WHERE state = 'active'",
    ) >= least
  )
}

test('vector counters follow uploads, new versions, deletions and the training of models', {
  timeout: 120_000,
}, async () => {
  running = await startEngine()
  const { engine, dataDir } = running
  const { id } = await engine.spaces.create(ADA, { name: 'Counted', slug: 'counted' })
  const texts = (count: number, salt?: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, place) => [`text-${place}.md`, sharedWords(place, salt)]))
  const equal = () => {
    const { kept, counted, left } = counts(dataDir)
    expect(kept).toEqual(counted)
    expect(left).toBe(0)
    return kept
  }
  const accepted = await ingest(engine, ADA, id, texts(60))
  await until(() => hasVectors(dataDir, 60))
  expect(equal()).toMatchObject([{ vectors: 60 }])
  // The same names with other bytes replace the first documents.
  await ingest(engine, ADA, id, texts(20, 5))
  await until(async () => (await engine.spaces.stats(ADA, id, { windowMinutes: 5 })).storage.documentCount === 60)
  await until(() => hasVectors(dataDir, 60))
  equal()
  await engine.documents.delete(
    ADA,
    id,
    accepted.slice(30, 40).map(({ asset }) => asset.id),
  )
  expect(Math.max(...equal().map((row) => (row as { vectors: number }).vectors))).toBe(50)
  expect((await engine.spaces.status(ADA, id)).index.degraded).toBeUndefined()
  await engine.spaces.delete(ADA, id)
  await until(() => rowsOf(dataDir).value('SELECT count(*) FROM vector_spaces') === 0)
  equal()
})
