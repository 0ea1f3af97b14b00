import { cpSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { Database } from '../../../src/engine/store/database.js'
import { sql, type Write } from '../../../src/engine/store/program.js'

/**
 * Migrates one empty database for all tests of a file. @returns a function that creates a folder with a copy of it,
 * `main.sqlite`
 */
export function emptyDatabase(): () => string {
  let empty: string
  beforeAll(async () => {
    empty = mkdtempSync(join(tmpdir(), 'ks-empty-'))
    await new Database(join(empty, 'main.sqlite'), Date.now).close()
  })
  afterAll(() => removeFolder(empty))
  return () => {
    const folder = mkdtempSync(join(tmpdir(), 'ks-statements-'))
    cpSync(empty, folder, { recursive: true })
    return folder
  }
}

/** Inserts a row into the simplest table. */
export function* insert(jti: string): Write<unknown> {
  return yield* sql.run('INSERT INTO revoked_tokens (jti, expires_at) VALUES (?, 1)', [jti])
}

/** The rows that `insert` added. */
export function insertedIn(db: Database): string[] {
  return db.now(sql.all<{ jti: string }>('SELECT jti FROM revoked_tokens ORDER BY jti')).map(({ jti }) => jti)
}
