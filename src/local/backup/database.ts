import { closeSync, existsSync, openSync } from 'node:fs'
import Sqlite from 'better-sqlite3'

/** What a copy of a database names. */
export interface Contents {
  /** the store it is of; absent in databases of earlier versions */
  store?: { id: string; opened: number }
  schema: number
  /** keys of the objects that its rows name */
  objects: string[]
}

/** All pages in one step: a step is one read transaction, so that writers meanwhile do not make it begin again. */
const ALL_PAGES = 0x7fff_ffff
/** Tables whose rows name objects, and which of their rows do: the bytes of a deleted document go before its row. */
const NAMING = { documents: 'deleted_at IS NULL', chat_files: '1', workspace_files: '1', snapshot_files: '1' }

/**
 * Copies a database as it is at one instant, through SQLite's backup API, while another process writes to it or none.
 * Reads only; a log that is there stays where it is.
 *
 * @throws Error where there is no database
 */
export async function copyDatabase(from: string, to: string): Promise<void> {
  if (!existsSync(from)) throw new Error(`there is no database ${from}`)
  // SQLite makes files of mode 0644, and keeps the mode of one that exists
  closeSync(openSync(to, 'wx', 0o600))
  const source = new Sqlite(from, { readonly: true, fileMustExist: true })
  try {
    await source.backup(to, { progress: () => ALL_PAGES })
  } finally {
    source.close()
  }
  // a copy stands alone: without a log beside it
  const copy = new Sqlite(to)
  try {
    copy.pragma('journal_mode = DELETE')
    // nobody works on what is restored from it: what they had claimed is free at once
    if (hasTable(copy, 'gateways')) copy.exec('DELETE FROM gateways')
  } finally {
    copy.close()
  }
}

/** @throws Error saying what is wrong with a copy */
export function readContents(path: string): Contents {
  const db = new Sqlite(path, { readonly: true, fileMustExist: true })
  try {
    const problems = db.pragma('integrity_check(1)', { simple: true })
    if (problems !== 'ok') throw new Error(`${path} is damaged: ${String(problems)}`)
    const objects = new Set<string>()
    for (const [table, which] of Object.entries(NAMING)) {
      if (!hasTable(db, table)) continue
      for (const key of db.prepare(`SELECT DISTINCT object_key FROM ${table} WHERE ${which}`).pluck().iterate())
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
