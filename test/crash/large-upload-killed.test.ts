import { afterAll, expect, test } from 'vitest'
import { type BenchDaemon, startDaemon, temporaryFolder } from '../../bench/lib/daemon.js'
import { rowsOf } from '../helpers/databases.js'
import { until } from '../helpers/until.js'

const SECTIONS = 1_500
/** the passage at which the daemon is stopped, in the third slice of the document */
const HELD_AT = 1_100
const WAIT_MS = 180_000

const home = temporaryFolder('large-upload')
const rows = rowsOf(home.path)
let daemon: BenchDaemon | undefined

afterAll(async () => {
  await daemon?.kill()
  home.remove()
})

const text = Array.from(
  { length: SECTIONS },
  (_, n) => `# Section ${n}\n\n${Array.from({ length: 110 }, (_word, w) => `w${(n * 110 + w) * 7919}`).join(' ')}\n`,
).join('\n')

const NODES = 'SELECT count(*) FROM nodes'

test('a large document is invisible after a kill between its slices, and published exactly once after the restart', {
  timeout: 4 * WAIT_MS,
}, async () => {
  daemon = await startDaemon(home.path)
  const { id } = await daemon.client.request('POST /knowledge-spaces', { body: { name: 'Large', slug: 'large' } })
  // The transaction of this passage never ends: earlier ones are committed, later ones are not.
  await rows.run(
    `CREATE TRIGGER held AFTER INSERT ON nodes WHEN NEW.ordinal = ${HELD_AT} BEGIN
      SELECT count(*) FROM (WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n);
    END`,
  )
  const accepted = await daemon.client.upload('POST /knowledge-spaces/{id}/documents', {
    path: { id },
    field: 'file',
    files: [{ filename: 'large.md', mimeType: 'text/markdown', content: { bytes: Buffer.from(text) } }],
  })
  const documentId = 'asset' in accepted ? accepted.asset.id : accepted.id
  await until(() => rows.value(NODES) >= HELD_AT - 600, WAIT_MS)
  const stored = rows.value(NODES)
  expect(stored).toBeLessThan(SECTIONS)
  await daemon.kill()

  expect(rows.value('SELECT count(*) FROM versions WHERE from_revision IS NOT NULL')).toBe(0)
  expect(rows.value(NODES)).toBeLessThanOrEqual(HELD_AT)
  await rows.run('DROP TRIGGER held')
  daemon = await startDaemon(home.path)
  const { client } = daemon
  await until(async () => {
    const path = { id, documentId }
    return (
      (await client.request('GET /knowledge-spaces/{id}/documents/{documentId}', { path })).parserStatus === 'parsed'
    )
  }, WAIT_MS)
  // Leftovers of the killed daemons are removed in slices after the publication.
  await until(() => rows.value('SELECT count(*) FROM versions') === 1, WAIT_MS)
  expect(rows.value(NODES)).toBe(rows.value('SELECT node_count FROM versions'))
  expect(rows.value('SELECT count(DISTINCT ordinal) FROM nodes')).toBe(rows.value(NODES))
  expect(rows.value('SELECT node_count FROM space_usage')).toBe(rows.value(NODES))
  expect(rows.value('SELECT count(*) FROM jobs')).toBe(1)
  await until(async () => {
    const { projections } = await client.request('GET /knowledge-spaces/{id}/stats', { path: { id } })
    return projections.fts.ready === rows.value(NODES)
  }, WAIT_MS)
  for (const check of ['raw-objects', 'artifact-segments', 'references'] as const) {
    const { issues } = await client.request('GET /knowledge-spaces/{id}/fsck', { path: { id }, query: { check } })
    expect(issues).toEqual([])
  }
})
