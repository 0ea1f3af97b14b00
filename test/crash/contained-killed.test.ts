import { afterAll, expect, test } from 'vitest'
import { type BenchDaemon, startDaemon, temporaryFolder } from '../../bench/lib/daemon.js'
import { makeZip } from '../engine/readers/read.js'
import { rowsOf } from '../helpers/databases.js'
import { until } from '../helpers/until.js'

/** more than two transactions contain */
const FILES = 300
const WAIT_MS = 180_000
/** A statement that never ends: commits before it remain, and none follow. */
const NEVER = 'SELECT count(*) FROM (WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n);'

const home = temporaryFolder('contained')
const rows = rowsOf(home.path)
let daemon: BenchDaemon | undefined

afterAll(async () => {
  await daemon?.kill()
  home.remove()
})

const archive = makeZip(
  Array.from({ length: FILES }, (_, n) => ({ name: `file${n}.md`, content: `# File ${n}\n\nWords of ${n}.` })),
)

test.each([
  [
    'between contained documents of an archive',
    'one.zip',
    `CREATE TRIGGER held AFTER INSERT ON documents WHEN NEW.filename LIKE '%/file280.md' BEGIN ${NEVER} END`,
    (sent: string) => rows.value(`SELECT count(*) FROM documents WHERE filename LIKE '${sent}/%'`) >= 128,
  ],
  [
    'after the contained documents of an archive and before its version',
    'two.zip',
    `CREATE TRIGGER held AFTER INSERT ON versions
       WHEN EXISTS (SELECT 1 FROM documents WHERE key = NEW.doc_key AND filename = 'two.zip') BEGIN ${NEVER} END`,
    (sent: string) => rows.value(`SELECT count(*) FROM documents WHERE filename LIKE '${sent}/%'`) === FILES,
  ],
])(
  'after a kill %s and a restart, every document of the archive is published exactly once',
  {
    timeout: 4 * WAIT_MS,
  },
  async (_when, filename, trigger, isThere) => {
    daemon = await startDaemon(home.path)
    const slug = filename.slice(0, 3)
    const { id } = await daemon.client.request('POST /knowledge-spaces', { body: { name: slug, slug } })
    await rows.run(trigger)
    await daemon.client.upload('POST /knowledge-spaces/{id}/documents', {
      path: { id },
      field: 'file',
      files: [{ filename, mimeType: 'application/zip', content: { bytes: archive } }],
    })
    await until(() => isThere(filename), WAIT_MS)
    await daemon.kill()
    expect(
      rows.value(`SELECT count(*) FROM documents WHERE filename = '${filename}' AND parser_status = 'parsed'`),
    ).toBe(0)

    await rows.run('DROP TRIGGER held')
    daemon = await startDaemon(home.path)
    const ours = `filename LIKE '${filename}%' AND deleted_at IS NULL`
    await until(
      () => rows.value(`SELECT count(*) FROM documents WHERE ${ours} AND parser_status = 'parsed'`) > FILES,
      WAIT_MS,
    )
    expect(rows.value(`SELECT count(*) FROM documents WHERE ${ours}`)).toBe(FILES + 1)
    expect(rows.value(`SELECT count(DISTINCT filename) FROM documents WHERE ${ours}`)).toBe(FILES + 1)
    expect(rows.value(`SELECT count(*) FROM documents WHERE ${ours} AND parent_id IS NOT NULL`)).toBe(FILES)
    for (const check of ['raw-objects', 'references'] as const) {
      const path = { id }
      const { issues } = await daemon.client.request('GET /knowledge-spaces/{id}/fsck', { path, query: { check } })
      expect(issues).toEqual([])
    }
    await daemon.kill()
  },
)
