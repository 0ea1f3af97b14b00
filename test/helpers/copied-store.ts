import { cpSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { removeFolder } from '../../bench/lib/removed-folder.js'
import { resolveDataLayout } from '../../src/local/layout.js'
import { backend } from './backend.js'
import { copyDatabase, rowsOf } from './databases.js'

type Row = Record<string, unknown>

/** Copies the data directory of a running engine: a consistent snapshot of its database, and all other files. */
export function copyDataDir(dataDir: string): string {
  const copy = mkdtempSync(join(tmpdir(), 'ks-copy-'))
  const isDatabase = (path: string) => backend === 'sqlite' && path.startsWith(join(dataDir, 'db'))
  cpSync(dataDir, copy, { recursive: true, filter: (path) => !isDatabase(path) })
  if (backend === 'pg') {
    copyDatabase(dataDir, copy)
    return copy
  }
  removeFolder(join(copy, 'db'))
  cpSync(join(dataDir, 'db'), join(copy, 'db'), { recursive: true, filter: (path) => !/main\.sqlite/.test(path) })
  const db = new Sqlite(resolveDataLayout(dataDir).database, { timeout: 5000 })
  db.prepare('VACUUM INTO ?').run(resolveDataLayout(copy).database)
  db.close()
  return copy
}

/** Lists the owner and state of each kind of work. */
export function listOwners(dataDir: string): Record<string, Row[]> {
  const all = (sql: string) => rowsOf(dataDir).all(sql)
  return {
    jobs: all('SELECT id, stage, claimed_by, fence, unclean_ends FROM jobs WHERE completed_at IS NULL'),
    tasks: all('SELECT id, stage, claimed_by, fence, unclean_ends FROM research_tasks'),
    sources: all('SELECT id, status, claimed_by, fence, sync_started_at FROM sources'),
    messages: all('SELECT id, status, claimed_by, error FROM chat_messages'),
    annotationJobs: all('SELECT id, status, claimed_by, error FROM chat_annotation_jobs'),
    uploads: all(
      "SELECT id, status, claimed_by FROM staged_commits WHERE operation_type = 'document-upload' AND job_id IS NULL",
    ),
    models: all("SELECT id, state, claimed_by FROM vector_spaces WHERE state <> 'active'"),
    readings: all('SELECT id, state, claimed_by, attempts FROM graph_readings'),
    migrations: all('SELECT id, state, claimed_by, attempts FROM embedding_migrations'),
    keys: all('SELECT key, instance, status FROM idempotency'),
  }
}
