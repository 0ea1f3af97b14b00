import type { EngineContext } from '../context.js'
import { removeUnreferenced } from '../documents/delete.js'
import { takeExpired } from '../rows/chat/files.js'
import { spaceByKey } from '../rows/spaces.js'
import { policiesOf } from '../spaces/manifest.js'
import { purgeWorkspaces, purgeWorkspacesOf } from '../workspaces/purge.js'
import type { Database } from './database.js'
import { giveBackPages } from './free-pages.js'
import { type Read, sql, type Write } from './program.js'

/** a research task has some thirty bundles */
const TASKS = 5
/** a trace and its bundle are some thirty kilobytes */
const TRACES = 50
/** parts of documents, and pictures in them, have hundreds of kilobytes each */
const LARGE_ROWS = 8
const ROWS = 500 // rows a slice removes, so that the event loop is held for milliseconds

/**
 * Removes some of what was deleted or has expired: rows of documents, versions, spaces and sessions, then bytes that
 * nothing names any more, then the room in the file of the database. Every step may be repeated.
 * @returns whether there is more to do
 */
export async function purgeSlice(context: EngineContext, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted || context.objects.isPinned()) return false
  return (
    (await purgeDocument(context)) ||
    (await purgeVersion(context)) ||
    (await purgeWorkspaces(context)) ||
    (await purgeSpace(context)) ||
    (await purgeSessions(context)) ||
    (await purgeChatFile(context)) ||
    (await giveBackPages(context.db))
  )
}

/** Sessions that have expired, with the questions and answers they remembered. */
async function purgeSessions({ db, now }: EngineContext): Promise<boolean> {
  const expired = db.now(sql.all<{ id: string }>('SELECT id FROM sessions WHERE expires_at < ? LIMIT ?', [now(), ROWS]))
  if (expired.length === 0) return false
  await db.write(function* () {
    for (const { id } of expired) {
      yield* sql.run('DELETE FROM session_turns WHERE session_id = ?', [id])
      yield* sql.run('DELETE FROM sessions WHERE id = ?', [id])
    }
  })
  return true
}

/** A file of a chat that was never sent, or whose messages are gone. */
async function purgeChatFile(context: EngineContext): Promise<boolean> {
  const { db, now } = context
  if (
    db.now(sql.get<{ one: number }>('SELECT 1 one FROM chat_files WHERE expires_at <= ? LIMIT 1', [now()])) ===
    undefined
  )
    return false
  const row = await db.write(() => takeExpired(now()))
  if (row === undefined) return false
  await removeUnreferenced(context, row.object_key)
  return true
}

async function purgeDocument(context: EngineContext): Promise<boolean> {
  const { db } = context
  // a query that began before the deletion may still load the passages it found
  const row = db.now(
    sql.get<{ key: number; object_key: string; space_key: number }>(
      `SELECT key, object_key, space_key FROM documents WHERE deleted_at IS NOT NULL AND ${notRead('deleted_at')}
     ORDER BY deleted_at LIMIT 1`,
      [context.leases.readers()],
    ),
  )
  if (row === undefined) return false
  const more = await db.write(function* () {
    if (yield* deleteNodes(row.space_key, 'doc_key', row.key)) return true
    for (const { key } of yield* sql.all<{ key: number }>('SELECT key FROM versions WHERE doc_key = ?', [row.key]))
      if (yield* deleteVersion(key)) return true
    yield* sql.run('DELETE FROM documents WHERE key = ? AND deleted_at IS NOT NULL', [row.key])
    return false
  })
  if (!more) await removeUnreferenced(context, row.object_key)
  return true
}

/** A version that was superseded more often than the retention policy's `parseArtifactVersions`. */
async function purgeVersion(context: EngineContext): Promise<boolean> {
  const { db } = context
  const row = db.now(
    sql.get<{ key: number; space_key: number; obsolete_at: number }>(
      `SELECT key, space_key, obsolete_at FROM versions WHERE obsolete_at IS NOT NULL AND until_revision IS NOT NULL
       AND ${notRead('obsolete_at')} ORDER BY obsolete_at LIMIT 1`,
      [context.leases.readers()],
    ),
  )
  if (row === undefined) return false
  // a listing that goes on page by page may still show the publication that had this version
  if (row.obsolete_at + db.now(snapshotTime(row.space_key)) > context.now()) return false
  await db.write(function* () {
    if (yield* deleteNodes(row.space_key, 'key', row.key)) return
    yield* deleteVersion(row.key)
  })
  return true
}

/** SQL: no query reads the space since before the time in `column`. Takes `Leases.readers()` as its parameter. */
function notRead(column: 'deleted_at' | 'obsolete_at'): string {
  return `NOT EXISTS (SELECT 1 FROM json_each(?) reader WHERE reader.value ->> 0 = space_key AND reader.value ->> 1 <= ${column})`
}

/** How long a snapshot of a space may be read, in milliseconds. */
function* snapshotTime(spaceKey: number): Read<number> {
  const space = yield* spaceByKey(spaceKey)
  return space === undefined ? 0 : policiesOf(space).consistencyPolicy.snapshotTtlSeconds * 1000
}

/** Deletes a slice of nodes with their vectors. @returns whether there may be more */
function* deleteNodes(spaceKey: number, of: 'doc_key' | 'key', owner: number): Write<boolean> {
  const nodes = yield* sql.all<{ key: number }>(
    `SELECT nodes.key FROM versions CROSS JOIN nodes ON nodes.version_key = versions.key WHERE versions.${of} = ? LIMIT ?`,
    [owner, ROWS],
  )
  for (const node of nodes) {
    yield* sql.run(
      'DELETE FROM vectors WHERE node_key = ? AND vector_space IN (SELECT key FROM vector_spaces WHERE space_key = ?)',
      [node.key, spaceKey],
    )
    yield* sql.run('DELETE FROM nodes WHERE key = ?', [node.key])
  }
  return nodes.length === ROWS
}

/**
 * Deletes a version whose nodes are gone: first a slice of what was stored with it and made of it, which a large version
 * has much of; what is left goes with its row.
 *
 * @returns whether there may be more
 */
function* deleteVersion(versionKey: number): Write<boolean> {
  for (const [table, key, rows] of OF_A_VERSION) {
    const { changes } = yield* sql.run(
      `DELETE FROM ${table} WHERE version_key = ? AND (${key}) IN (SELECT ${key} FROM ${table} WHERE version_key = ? LIMIT ?)`,
      [versionKey, versionKey, rows],
    )
    if (changes === rows) return true
  }
  yield* sql.run('DELETE FROM versions WHERE key = ?', [versionKey])
  return false
}

/** A deleted space: its documents first, then its other rows, its indexes, and last the row that names it. */
async function purgeSpace(context: EngineContext): Promise<boolean> {
  const { db, indexes } = context
  const space = db.now(
    sql.get<{ key: number; id: string; deleted_at: number }>(
      'SELECT key, id, deleted_at FROM spaces WHERE deleted_at IS NOT NULL LIMIT 1',
    ),
  )
  if (space === undefined) return false
  const marked = await db.write(function* () {
    return (yield* sql.run(
      `UPDATE documents SET deleted_at = ? WHERE key IN
           (SELECT key FROM documents WHERE space_key = ? AND deleted_at IS NULL LIMIT ?)`,
      [space.deleted_at, space.key, ROWS],
    )).changes
  })
  if (marked > 0 || (await purgeLong(db, space.key)) || (await purgeWorkspacesOf(context, space.key))) return true
  await indexes.drop(space.id)
  await db.write(function* () {
    for (const statement of OF_A_SPACE) yield* sql.run(statement, [space.key])
  })
  return true
}

/** A slice of the tables that grow with the use of a space. @returns whether there may be more */
async function purgeLong(db: Database, spaceKey: number): Promise<boolean> {
  const traces = db.now(
    sql.all<{ id: string }>('SELECT id FROM traces WHERE space_key = ? LIMIT ?', [spaceKey, TRACES]),
  )
  return db.write(function* () {
    for (const { id } of traces) {
      yield* sql.run('DELETE FROM evidence_bundles WHERE trace_id = ?', [id])
      yield* sql.run('DELETE FROM traces WHERE id = ?', [id])
    }
    if (traces.length > 0) return true
    for (const [table, key, rows] of LONG)
      if (
        (yield* sql.run(
          `DELETE FROM ${table} WHERE ${key} IN (SELECT ${key} FROM ${table} WHERE space_key = ? LIMIT ?)`,
          [spaceKey, rows],
        )).changes > 0
      )
        return true
    return false
  })
}

/** Tables with rows of one version, their keys, and how many rows a slice takes. */
const OF_A_VERSION = [
  ['version_parts', 'part, place', LARGE_ROWS],
  ['item_assets', 'item_id', LARGE_ROWS],
  ['graph_relation_nodes', 'relation_key, node_key', ROWS],
  ['graph_mentions', 'entity_key, node_key', ROWS],
] as const

/** Tables with a row for every upload, publication or task, their keys, and how many rows a slice takes. */
const LONG = [
  ['staged_commits', 'id', ROWS],
  ['jobs', 'key', ROWS],
  ['publications', 'id', ROWS],
  ['projection_log', 'seq', ROWS],
  ['research_tasks', 'id', TASKS],
  ['local_files', 'key', ROWS],
] as const

/** What is left of a space after its documents, children before the rows they hang on. */
const OF_A_SPACE = [
  'DELETE FROM session_turns WHERE session_id IN (SELECT id FROM sessions WHERE space_key = ?)',
  'DELETE FROM sessions WHERE space_key = ?',
  'DELETE FROM missing_reviews WHERE space_key = ?',
  'DELETE FROM missing_review_history WHERE space_key = ?',
  'DELETE FROM golden_questions WHERE space_key = ?',
  'DELETE FROM failed_queries WHERE space_key = ?',
  'DELETE FROM evidence_bundles WHERE space_key = ?',
  'DELETE FROM traces WHERE space_key = ?',
  'DELETE FROM staged_commits WHERE space_key = ?',
  'DELETE FROM bulk_items WHERE bulk_id IN (SELECT id FROM bulk_jobs WHERE space_key = ?)',
  'DELETE FROM bulk_jobs WHERE space_key = ?',
  'DELETE FROM jobs WHERE space_key = ?',
  'DELETE FROM publications WHERE space_key = ?',
  'DELETE FROM projection_log WHERE space_key = ?',
  'DELETE FROM vectors_due WHERE space_key = ?',
  'DELETE FROM vector_refusals WHERE space_key = ?',
  'DELETE FROM vector_waits WHERE space_key = ?',
  'DELETE FROM embedding_migration_refusals WHERE space_key = ?',
  'DELETE FROM embedding_migrations WHERE space_key = ?',
  'DELETE FROM vectors WHERE vector_space IN (SELECT key FROM vector_spaces WHERE space_key = ?)',
  'DELETE FROM vector_spaces WHERE space_key = ?',
  'DELETE FROM retrieval_profiles WHERE space_key = ?',
  'DELETE FROM retention_policies WHERE space_key = ?',
  'DELETE FROM space_usage WHERE space_key = ?',
  'DELETE FROM research_tasks WHERE space_key = ?',
  'DELETE FROM conflict_verdicts WHERE space_key = ?',
  'DELETE FROM graph_scans WHERE space_key = ?',
  'DELETE FROM graph_readings WHERE space_key = ?',
  'DELETE FROM graph_model_reads WHERE space_key = ?',
  'DELETE FROM semantic_views WHERE space_key = ?',
  'DELETE FROM semantic_reports WHERE space_key = ?',
  'DELETE FROM semantic_builds WHERE space_key = ?',
  'DELETE FROM space_deletions WHERE space_key = ?',
  'DELETE FROM sources WHERE space_key = ?',
  'DELETE FROM source_readers WHERE space_key = ?',
  'DELETE FROM snapshot_queries WHERE space_key = ?',
  'DELETE FROM workspace_snapshots WHERE space_key = ?',
  'DELETE FROM workspace_changes WHERE space_key = ?',
  'DELETE FROM watches WHERE space_key = ?',
  'DELETE FROM spaces WHERE key = ?',
]
