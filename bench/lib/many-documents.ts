import Sqlite from 'better-sqlite3'
import { newId } from '../../src/lib/ids.js'
import { dataLayout } from '../../src/local/layout.js'
import { numbers, prose } from './words.js'

const SEED = 50_000
const TEXT_CHARACTERS = 600
const ROWS_A_COMMIT = 5_000

type Row = Record<string, unknown>

/**
 * Multiplies the one document of a data directory whose daemon has stopped, in its database: rows as an ingest leaves
 * them, at a hundredth of its time. Their passages have texts of their own; the file and its artifact are shared.
 */
export function multiplyDocuments(dataDir: string, count: number): void {
  const db = new Sqlite(dataLayout(dataDir).database)
  try {
    const random = numbers(SEED)
    const document = one(db, 'documents')
    const version = one(db, 'versions')
    const node = one(db, 'nodes')
    const job = one(db, 'jobs')
    const commit = one(db, 'staged_commits')
    const counter = 'SELECT seq FROM space_counters WHERE space_key = ?'
    let seq = Number(db.prepare(counter).pluck().get(document['space_key']))
    for (let from = 1; from < count; from += ROWS_A_COMMIT)
      db.transaction(() => {
        for (let n = from; n < Math.min(count, from + ROWS_A_COMMIT); n++) {
          const id = newId()
          const jobId = newId()
          const doc = insert(db, 'documents', { ...document, id, filename: `note-${n}.md` })
          const made = { ...version, doc_key: doc, artifact_id: newId(), outline_id: newId(), items_id: newId() }
          const key = insert(db, 'versions', { ...made, first_node: null, last_node: null })
          const passage = { ...node, id: newId(), doc_key: doc, version_key: key }
          const first = insert(db, 'nodes', { ...passage, title: `note ${n}`, text: prose(random, TEXT_CHARACTERS) })
          db.prepare('UPDATE versions SET first_node = ?, last_node = ? WHERE key = ?').run(first, first, key)
          insert(db, 'projection_log', {
            space_key: document['space_key'],
            seq: ++seq,
            op: 1,
            first_node: first,
            last_node: first,
          })
          insert(db, 'jobs', { ...job, id: jobId, queue_id: newId(), doc_key: doc })
          const staged = { ...commit, id: newId(), idempotency_key: newId(), document_id: id, job_id: jobId }
          insert(db, 'staged_commits', staged)
        }
        db.prepare('UPDATE space_counters SET seq = ? WHERE space_key = ?').run(seq, document['space_key'])
        db.exec('UPDATE node_keys SET last = (SELECT max(key) FROM nodes)')
      })()
  } finally {
    db.close()
  }
}

/** The only row of a table, without its key and what SQLite computes. */
function one(db: Sqlite.Database, table: string): Row {
  const { key: _key, folder: _folder, base: _base, ...row } = db.prepare(`SELECT * FROM ${table} LIMIT 1`).get() as Row
  return row
}

const statements = new WeakMap<Sqlite.Database, Map<string, Sqlite.Statement>>()

/** @returns the row's key */
function insert(db: Sqlite.Database, table: string, row: Row): number {
  const known = statements.get(db) ?? new Map<string, Sqlite.Statement>()
  statements.set(db, known)
  const columns = Object.keys(row)
  const statement =
    known.get(table) ??
    db.prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`)
  known.set(table, statement)
  return Number(statement.run(...Object.values(row)).lastInsertRowid)
}
