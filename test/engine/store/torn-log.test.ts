import {
  closeSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { execaSync } from 'execa'
import { afterAll, expect, test } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { Database } from '../../../src/engine/store/database.js'
import { sql } from '../../../src/engine/store/program.js'
import { checkStore } from '../../../src/engine/store/store-identity.js'
import { resolveDataLayout } from '../../../src/local/layout.js'
import { crashSeed, seededRandom } from '../../crash/random.js'

const COMMITS = 12
const VARIANTS = 60
const DAMAGED_BYTES = 8192

const root = mkdtempSync(join(tmpdir(), 'ks-torn-'))
afterAll(() => removeFolder(root))

/** A copied database whose commits are all in the log, with the offset where each commit ends. */
async function written(): Promise<{ folder: string; ends: number[] }> {
  const live = join(root, 'live')
  mkdirSync(live)
  const path = join(live, 'main.sqlite')
  const db = new Database(path, Date.now)
  const reader = new Sqlite(path, { readonly: true })
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM revoked_tokens').get() // Prevents checkpoints of the log.
  const ends: number[] = []
  for (let commit = 0; commit < COMMITS; commit++) {
    // Enough for pages at the end of the database to exist in the log only.
    db.writeNow(() =>
      db.now(
        sql.run('INSERT INTO revoked_tokens (jti, expires_at) VALUES (?, ?)', [
          `${commit} ${'x'.repeat(9000)}`,
          commit,
        ]),
      ),
    )
    ends.push(statSync(`${path}-wal`).size)
  }
  const folder = join(root, 'pristine')
  execaSync('cp', ['-a', live, folder])
  reader.exec('COMMIT')
  reader.close()
  await db.close()
  return { folder, ends }
}

test('F18: a start with a damaged end of the log succeeds and has all commits before the damage', async () => {
  const seed = crashSeed()
  const random = seededRandom(seed)
  const { folder, ends } = await written()
  const layout = resolveDataLayout(join(root, 'start'))
  mkdirSync(layout.databaseDir, { recursive: true })
  const log = readFileSync(join(folder, 'main.sqlite-wal'))
  expect(log.length).toBe(ends.at(-1))
  let lost = 0
  for (let variant = 0; variant < VARIANTS; variant++) {
    const bytes = 1 + Math.floor(random() * DAMAGED_BYTES)
    const torn = Buffer.alloc(bytes)
    if (variant % 3 === 1) for (let at = 0; at < bytes; at++) torn[at] = Math.floor(random() * 256)
    if (variant % 3 === 2) log.copy(torn, 0, 32) // From an earlier offset of the log.
    const name = `variant ${variant}: ${bytes} bytes, seed ${seed}`
    rmSync(`${layout.database}-shm`, { force: true })
    for (const end of ['', '-wal']) copyFileSync(join(folder, `main.sqlite${end}`), `${layout.database}${end}`)
    const file = openSync(`${layout.database}-wal`, 'r+')
    writeSync(file, torn, 0, bytes, log.length - bytes)
    closeSync(file)

    checkStore(layout)
    const db = new Database(layout.database, Date.now)
    const found = db.now(sql.all<{ expires_at: number }>('SELECT expires_at FROM revoked_tokens ORDER BY expires_at'))
    const whole = ends.filter((end) => end <= log.length - bytes).length
    if (found.length < whole) lost++
    expect(
      found.slice(0, whole).map((row) => row.expires_at),
      name,
    ).toEqual(Array.from({ length: whole }, (_, at) => at))
    expect(db.now(sql.all('PRAGMA integrity_check')), name).toEqual([{ integrity_check: 'ok' }])
    await db.close()
  }
  process.stdout.write(
    `FIGURE torn-wal-tail: variants ${VARIANTS}, commits lost ${lost}, starts that failed 0, seed ${seed}\n`,
  )
})
