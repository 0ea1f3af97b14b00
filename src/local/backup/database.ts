import { closeSync, existsSync, openSync } from 'node:fs'
import Sqlite from 'better-sqlite3'

/** Facts of a copy of a database. */
export interface DatabaseContents {
  /** the store of the database; absent in databases of earlier versions */
  store?: { id: string; opened: number }
  schema: number
  /** keys of the objects that its rows refer to */
  objects: string[]
}

/** All pages in one step: a step is one read transaction, so concurrent writers do not restart the copy. */
const ALL_PAGES = 0x7fff_ffff
/**
 * Tables whose rows refer to objects, and the condition for rows that do: the bytes of a deleted document are removed
 * before its row.
 */
const REFERRING_TABLES = { documents: 'deleted_at IS NULL', chat_files: '1', workspace_files: '1', snapshot_files: '1' }

/**
 * Copies a database at one instant through SQLite's backup API, also while another process writes to it. Only reads; an
 * existing write-ahead log stays in place.
 *
 * @throws Error where there is no database
 */
export async function copyDatabase(sourcePath: string, targetPath: string): Promise<void> {
  if (!existsSync(sourcePath)) throw new Error(`there is no database ${sourcePath}`)
  // SQLite creates files with mode 0644, but keeps the mode of an existing one
  closeSync(openSync(targetPath, 'wx', 0o600))
  const source = new Sqlite(sourcePath, { readonly: true, fileMustExist: true })
  try {
    await source.backup(targetPath, { progress: () => ALL_PAGES })
  } finally {
    source.close()
  }
  // A copy is one file: without a write-ahead log.
  const copy = new Sqlite(targetPath)
  try {
    copy.pragma('journal_mode = DELETE')
    // No gateway works on a restored copy: release the claims of all gateways.
    if (hasTable(copy, 'gateways')) copy.exec('DELETE FROM gateways')
  } finally {
    copy.close()
  }
}

/** @throws Error with the damage of a copy */
export function readContents(path: string): DatabaseContents {
  const db = new Sqlite(path, { readonly: true, fileMustExist: true })
  try {
    const problems = db.pragma('integrity_check(1)', { simple: true })
    if (problems !== 'ok') throw new Error(`${path} is damaged: ${String(problems)}`)
    const objects = new Set<string>()
    for (const [table, condition] of Object.entries(REFERRING_TABLES)) {
      if (!hasTable(db, table)) continue
      for (const key of db.prepare(`SELECT DISTINCT object_key FROM ${table} WHERE ${condition}`).pluck().iterate())
        objects.add(String(key))
    }
    const row = hasTable(db, 'store') ? db.prepare('SELECT id, opened FROM store').get() : undefined
    const store = isStore(row) ? { store: { id: row.id, opened: row.opened } } : {}
    return { ...store, schema: Number(db.pragma('user_version', { simple: true })), objects: [...objects].sort() }
  } finally {
    db.close()
  }
}

function hasTable(db: Sqlite.Database, name: string): boolean {
  return db.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(name) !== undefined
}

function isStore(row: unknown): row is { id: string; opened: number } {
  return typeof row === 'object' && row !== null && 'id' in row && 'opened' in row
}
