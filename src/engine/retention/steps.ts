import { setImmediate as turn } from 'node:timers/promises'
import type { EngineContext } from '../context.js'
import { deleteDocuments } from '../documents/delete.js'
import { sql, type Write } from '../storage/program.js'
import { inOneWrite, NOTHING, type Slice, takeInTime } from '../storage/slices.js'
import { collectedCommits, endedBulkJobs, endedJobs } from './ended-work.js'
import { failedCommits } from './failed-commits.js'
import { cutoff, type Scope, type Step } from './slice.js'

/** deleting a document touches its versions, jobs, commits and the indexes: a transaction holds only some */
const DOCUMENTS_AT_ONCE = 20
/** what is made of a version's nodes beside their vectors */
const MADE_OF_NODES = ['graph_relation_nodes', 'graph_mentions', 'graph_versions', 'page_index']
/** the subject under whose name documents expire */
const SUBJECT = 'retention'

/** Answer traces with their steps and evidence bundles, oldest first. */
async function traces({ context: { db }, space, rules, now, batchRows }: Scope): Promise<Slice> {
  const rows = db.now(
    sql.all<{ id: string }>(
      'SELECT id FROM traces WHERE space_key = ? AND created_at < ? ORDER BY created_at LIMIT ?',
      [space.key, cutoff(now, rules.answerTraceRetentionDays), batchRows],
    ),
  )
  return inOneWrite(db, rows, batchRows, ({ id }) => {
    db.now(sql.run('DELETE FROM evidence_bundles WHERE trace_id = ?', [id]))
    db.now(sql.run('DELETE FROM traces WHERE id = ?', [id]))
  })
}

/** Research tasks that ended, with all they found and their reports: they are answers too. */
async function researchTasks({ context: { db }, space, rules, now, batchRows }: Scope): Promise<Slice> {
  const rows = db.now(
    sql.all<{ id: string }>(
      'SELECT id FROM research_tasks WHERE space_key = ? AND completed_at < ? ORDER BY completed_at LIMIT ?',
      [space.key, cutoff(now, rules.answerTraceRetentionDays), batchRows],
    ),
  )
  return inOneWrite(db, rows, batchRows, ({ id }) => db.now(sql.run('DELETE FROM research_tasks WHERE id = ?', [id])))
}

/** Evidence that the steps of research tasks found; the last of it is that of the report, which stays with it. */
async function stepEvidence({ context: { db }, space, rules, now, batchRows }: Scope): Promise<Slice> {
  const rows = db.now(
    sql.all<{ task_id: string; sequence: number }>(
      `SELECT p.task_id, p.sequence FROM research_tasks t CROSS JOIN research_partials p ON p.task_id = t.id
     WHERE t.space_key = ? AND t.completed_at < ?
       AND p.sequence < (SELECT max(sequence) FROM research_partials last WHERE last.task_id = t.id) LIMIT ?`,
      [space.key, cutoff(now, rules.evidenceCacheRetentionDays), batchRows],
    ),
  )
  return inOneWrite(db, rows, batchRows, ({ task_id, sequence }) =>
    db.now(sql.run('DELETE FROM research_partials WHERE task_id = ? AND sequence = ?', [task_id, sequence])),
  )
}

/** Raw documents, as if a user deleted them. */
async function rawDocuments({ context, space, rules, now, batchRows }: Scope): Promise<Slice> {
  if (rules.rawDocumentRetentionDays === null) return NOTHING
  const limit = Math.min(DOCUMENTS_AT_ONCE, batchRows)
  const rows = context.db.now(
    sql.all<{ id: string }>(
      'SELECT id FROM documents WHERE space_key = ? AND created_at < ? AND deleted_at IS NULL ORDER BY created_at LIMIT ?',
      [space.key, cutoff(now, rules.rawDocumentRetentionDays), limit],
    ),
  )
  if (rows.length === 0) return NOTHING
  const ids = rows.map(({ id }) => id)
  await deleteDocuments(context, { tenant: space.tenant, subject: SUBJECT, isDaemon: true }, space.id, ids)
  return { removed: rows.length, more: rows.length === limit }
}

/** Marks superseded versions beyond the number that is kept; the purge takes them when no snapshot can show them. */
async function artifactVersions({ context, space, rules, now, batchRows, signal }: Scope): Promise<Slice> {
  const { db } = context
  let after = { doc_key: 0, version: 0 }
  let removed = 0
  while (!signal.aborted) {
    const page = db.now(
      sql.all<{ key: number; doc_key: number; version: number; newer: number }>(
        `SELECT v.key, v.doc_key, v.version, (SELECT count(*) FROM versions n WHERE n.doc_key = v.doc_key
         AND n.version > v.version AND n.from_revision IS NOT NULL) newer
       FROM versions v INDEXED BY versions_superseded
       WHERE v.space_key = ? AND (v.doc_key, v.version) > (?, ?) AND v.until_revision IS NOT NULL AND v.obsolete_at IS NULL
       ORDER BY v.doc_key, v.version LIMIT ?`,
        [space.key, after.doc_key, after.version, batchRows],
      ),
    )
    const beyond = page.filter(({ newer }) => newer >= rules.parseArtifactVersions)
    await db.write(function* () {
      for (const { key } of beyond) yield* sql.run('UPDATE versions SET obsolete_at = ? WHERE key = ?', [now, key])
    })
    removed += beyond.length
    const last = page.at(-1)
    if (last === undefined || page.length < batchRows) break
    after = last
    await turn()
  }
  if (removed > 0) context.wake()
  return { removed, more: false }
}

/** Nodes and vectors of versions that were superseded long ago; their parse artifacts stay readable. */
async function supersededNodes(scope: Scope): Promise<Slice> {
  const { context, space, rules, now, batchRows } = scope
  const { db } = context
  const before = cutoff(now, rules.inactiveProjectionRetentionDays)
  if (isHeld(context, space.key, before)) return NOTHING
  const version = db.now(
    sql.get<{ key: number }>(
      `SELECT v.key FROM versions v INDEXED BY versions_inactive
     LEFT JOIN publications p ON p.space_key = v.space_key AND p.revision = v.until_revision
     WHERE v.space_key = ? AND v.until_revision IS NOT NULL AND v.first_node IS NOT NULL
       AND coalesce(p.created_at, 0) < ? ORDER BY v.until_revision LIMIT 1`,
      [space.key, before],
    ),
  )
  if (version === undefined) return NOTHING
  const nodes = db.now(
    sql.all<{ key: number }>('SELECT key FROM nodes WHERE version_key = ? ORDER BY ordinal LIMIT ?', [
      version.key,
      batchRows,
    ]),
  )
  const all = nodes.length < batchRows
  const removed = await db.write(function* () {
    const done = takeInTime(nodes, ({ key }) => {
      db.now(
        sql.run(
          'DELETE FROM vectors WHERE node_key = ? AND vector_space IN (SELECT key FROM vector_spaces WHERE space_key = ?)',
          [key, space.key],
        ),
      )
      db.now(sql.run('DELETE FROM nodes WHERE key = ?', [key]))
    })
    // the version's row tells the truth after every slice
    yield* sql.run('UPDATE versions SET node_count = max(0, node_count - ?) WHERE key = ?', [done, version.key])
    if (all && done === nodes.length) yield* emptyVersion(version.key)
    return done
  })
  return { removed, more: true }
}

/** Nothing of a version's nodes is left. */
function* emptyVersion(versionKey: number): Write<void> {
  for (const table of MADE_OF_NODES) yield* sql.run(`DELETE FROM ${table} WHERE version_key = ?`, [versionKey])
  yield* sql.run('UPDATE versions SET first_node = NULL, last_node = NULL, node_count = 0 WHERE key = ?', [versionKey])
}

/** Vectors of models that were replaced; training removes them itself, unless it was interrupted. */
async function supersededModels({ context, space, rules, now, batchRows }: Scope): Promise<Slice> {
  const { db } = context
  const model = db.now(
    sql.get<{ key: number; id: string }>(
      `SELECT key, id FROM vector_spaces old WHERE space_key = ? AND state = 'superseded'
       AND (SELECT min(created_at) FROM vector_spaces newer
            WHERE newer.space_key = old.space_key AND newer.revision > old.revision) < ? LIMIT 1`,
      [space.key, cutoff(now, rules.inactiveProjectionRetentionDays)],
    ),
  )
  if (model === undefined) return NOTHING
  const rows = db.now(
    sql.all<{ node_key: number }>('SELECT node_key FROM vectors WHERE vector_space = ? ORDER BY node_key LIMIT ?', [
      model.key,
      batchRows,
    ]),
  )
  if (rows.length > 0) {
    const { removed } = await inOneWrite(db, rows, batchRows, ({ node_key }) =>
      db.now(sql.run('DELETE FROM vectors WHERE vector_space = ? AND node_key = ?', [model.key, node_key])),
    )
    return { removed, more: true }
  }
  await db.write(() => sql.run("DELETE FROM vector_spaces WHERE key = ? AND state = 'superseded'", [model.key]))
  context.lsa.unload(model.id)
  return { removed: 1, more: true }
}

/** Publications that another one replaced long ago. A snapshot that is still read is younger than a day. */
async function oldPublications({ context: { db }, space, rules, now, batchRows }: Scope): Promise<Slice> {
  const before = cutoff(now, rules.inactiveProjectionRetentionDays)
  const oldest = db.now(
    sql.all<{ id: string; replaced_at: number | null }>(
      `SELECT p.id, (SELECT n.created_at FROM publications n WHERE n.space_key = p.space_key AND n.revision = p.revision + 1) replaced_at
     FROM publications p WHERE p.space_key = ? AND p.revision < ? ORDER BY p.revision LIMIT ?`,
      [space.key, space.head_revision, batchRows],
    ),
  )
  const rows = oldest.filter(({ replaced_at }) => replaced_at !== null && replaced_at < before)
  return inOneWrite(db, rows, batchRows, ({ id }) => db.now(sql.run('DELETE FROM publications WHERE id = ?', [id])))
}

/** Whether a query that still runs began before something became inactive. */
function isHeld(context: EngineContext, spaceKey: number, before: number): boolean {
  return context.leases.of(spaceKey).some((lease) => lease.type === 'read' && lease.acquiredAt < before)
}

/**
 * In this order: nodes go by the publication that replaced them, so publications come after; jobs stay as long as a bulk
 * job or a failed commit needs them.
 */
export const STEPS: readonly [name: string, step: Step][] = [
  ['traces', traces],
  ['researchTasks', researchTasks],
  ['stepEvidence', stepEvidence],
  ['documents', rawDocuments],
  ['artifactVersions', artifactVersions],
  ['nodes', supersededNodes],
  ['models', supersededModels],
  ['publications', oldPublications],
  ['commits', failedCommits],
  ['bulkJobs', endedBulkJobs],
  ['jobs', endedJobs],
  ['collectedCommits', collectedCommits],
]
