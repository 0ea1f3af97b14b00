import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, expect, it } from 'vitest'
import { removeFolder } from '../../bench/lib/removed-folder.js'
import { restoreBackup } from '../../src/local/backup/restore.js'
import { takeBackup } from '../../src/local/backup/take.js'
import { resolveDataLayout } from '../../src/local/layout.js'

const home = mkdtempSync(join(tmpdir(), 'ks-backup-modes-'))
afterEach(() => removeFolder(home))

/** Paths below a folder that users other than the owner may access. */
const openBelow = (folder: string) =>
  [folder, ...readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name)))].filter(
    (path) => (statSync(path).mode & 0o077) !== 0,
  )

it.skipIf(process.platform === 'win32')(
  'backups and restored data directories are accessible to their owner only',
  async () => {
    const layout = resolveDataLayout(join(home, 'data'))
    const bytes = 'the words of a document'
    const hash = createHash('sha256').update(bytes).digest('hex')
    const key = `${'ab'.repeat(12)}/sha256/${hash.slice(0, 2)}/${hash}`
    for (const path of [layout.database, join(layout.objects, key)]) mkdirSync(dirname(path), { recursive: true })
    writeFileSync(join(layout.objects, key), bytes)
    const db = new Sqlite(layout.database)
    db.exec(
      'CREATE TABLE documents (object_key TEXT, deleted_at INTEGER); CREATE TABLE store (id TEXT, opened INTEGER)',
    )
    db.prepare('INSERT INTO documents VALUES (?, NULL)').run(key)
    db.prepare("INSERT INTO store VALUES ('one', 1)").run()
    db.close()
    writeFileSync(layout.config, '{}')
    chmodSync(layout.config, 0o644)
    const to = join(home, 'backups')
    const onProgress = () => undefined
    const { manifest } = await takeBackup({ layout, folder: to, version: '1', now: new Date(), onProgress })
    expect(manifest.objects).toEqual([{ key, size: bytes.length }])
    expect(openBelow(to)).toEqual([])
    await restoreBackup({ backupFolder: to, dataDir: join(home, 'restored'), onProgress })
    expect(openBelow(join(home, 'restored'))).toEqual([])
  },
)
