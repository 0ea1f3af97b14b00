import { KsError } from '../../contract/errors.js'
import type { EngineContext } from '../context.js'
import { removeUnreferenced, retireDocument } from '../documents/delete.js'
import type { DocumentRow } from '../rows/documents.js'
import { moveJob } from '../rows/jobs.js'
import { publishNext } from '../rows/publications.js'
import { type SpaceRow, spaceByKey } from '../rows/spaces.js'
import { advance } from '../rows/staged-commits.js'
import { retentionOf } from '../spaces/retention-policy.js'
import { type Read, sql, type Write } from '../storage/program.js'
import type { EmbeddedNodes } from './embeddings.js'
import { addToIndex, type FilledVector } from './vector-rows.js'
import { activeVectorSpace, insertVectors, isTrained } from './vector-spaces.js'
import { oweVectors } from './vectors-due.js'
import type { Built } from './work.js'

/** Vectors that one transaction stores at most; those of more passages are stored before the publication. */
const VECTORS_AT_ONCE = 256

/**
 * Stores the vectors of a batch and makes its versions visible, in one transaction; then tells the index. The vectors of
 * large versions are stored and told before, in slices.
 *
 * @returns false, with nothing done, where the vectors are of a model that the space does not use any more
 */
export async function publishBatch(
  context: EngineContext,
  space: SpaceRow,
  built: Built[],
  embedded: EmbeddedNodes | undefined,
): Promise<boolean> {
  const { db, indexes } = context
  const all = vectorRows(built, embedded)
  const isLarge = all.length > VECTORS_AT_ONCE
  if (isLarge && embedded !== undefined && !(await storeVectors(context, space, built, embedded, all))) return false
  const rows = isLarge ? [] : all
  await context.rightOfWay.giveWay()
  const published = await db.write(function* () {
    for (const item of built) yield* assertHeld(context, item)
    const live = yield* spaceByKey(space.key)
    const isProvided = live !== undefined && !isTrained(live)
    const hasNodes = built.some(({ nodes }) => nodes.length > 0)
    if (live !== undefined && hasNodes) {
      const current = isProvided ? undefined : yield* activeVectorSpace(live)
      if (current?.key !== embedded?.vectorSpace.key) return undefined
    }
    const going = built.filter(
      ({ job }) => db.now(moveJob(job.id, 'nodes_generated', 'projection_built')) || db.now(resume(job.id)),
    )
    const nothing = { seq: 0, removed: [] as number[], retired: [] as DocumentRow[] }
    if (going.length === 0) return nothing
    const ours = new Set(going.map(({ document }) => document.key))
    if (embedded !== undefined)
      yield* insertVectors(
        embedded.vectorSpace.key,
        rows.filter(({ doc }) => ours.has(doc)),
      )
    const { revision } = yield* publishNext(
      space.key,
      going.map(({ document, job }) => `${document.id}@${job.version}`).join(' '),
    )
    const gone: DocumentRow[] = []
    for (const item of going) {
      gone.push(...(yield* publishOne(space, item, revision)))
      if (isProvided && item.nodes.length > 0) yield* oweVectors(space.key, item.versionKey)
    }
    return { ...(yield* logOf(space.key, revision)), retired: gone }
  })
  if (published === undefined) return false
  context.pageIndexes.published(space.key)
  context.conflicts.published(space.key)
  const { seq, removed, retired } = published
  if (removed.length > 0) await indexes.apply(space.id, { seq, add: [], remove: removed })
  if (embedded !== undefined && rows.length > 0) await addToIndex(context, space, embedded.vectorSpace, rows)
  for (const row of retired) await removeUnreferenced(context, row.object_key)
  return true
}

/**
 * Stores vectors of versions that are not published yet, and tells the index, slice by slice. A version that was given up
 * meanwhile gets none.
 *
 * @returns false where the vectors are of a model that the space does not use any more
 */
async function storeVectors(
  context: EngineContext,
  space: SpaceRow,
  built: readonly Built[],
  { vectorSpace }: EmbeddedNodes,
  rows: readonly FilledVector[],
): Promise<boolean> {
  const { db } = context
  const versions = new Map(built.map(({ document, versionKey }) => [document.key, versionKey]))
  for (let from = 0; from < rows.length; from += VECTORS_AT_ONCE) {
    const slice = rows.slice(from, from + VECTORS_AT_ONCE)
    const stored = await db.write(function* () {
      const live = yield* spaceByKey(space.key)
      if (live === undefined) return []
      if ((yield* activeVectorSpace(live))?.key !== vectorSpace.key) return undefined
      const there = new Set(
        [...new Set(slice.map(({ doc }) => doc))].filter(
          (doc) =>
            db.now(
              sql.get('SELECT 1 one FROM versions WHERE key = ? AND until_revision IS NULL', [
                versions.get(doc) ?? null,
              ]),
            ) !== undefined,
        ),
      )
      const wanted = slice.filter(({ doc }) => there.has(doc))
      yield* insertVectors(vectorSpace.key, wanted)
      return wanted
    })
    if (stored === undefined) return false
    if (stored.length > 0) await addToIndex(context, space, vectorSpace, stored)
    await context.rightOfWay.giveWay()
  }
  return true
}

/**
 * Fencing: who lost the lease of a document meanwhile publishes nothing and tries again. A job that was ended by others, as
 * a deletion ends it, is not published anyway.
 */
function* assertHeld({ leases }: EngineContext, { job, lease }: Built): Read<void> {
  if (lease === undefined || leases.isCurrent(lease)) return
  const open = yield* sql.get<{ id: string }>('SELECT id FROM jobs WHERE id = ? AND completed_at IS NULL', [job.id])
  if (open !== undefined) throw new KsError('unavailable', `the lease of job ${job.id} was lost before its publication`)
}

/** A job that a crash caught after `projection_built` goes on from there. */
function* resume(jobId: string): Write<boolean> {
  const row = yield* sql.get<{ stage: string }>('SELECT stage FROM jobs WHERE id = ? AND completed_at IS NULL', [jobId])
  if (row?.stage === 'smoke_eval_passed')
    yield* sql.run("UPDATE jobs SET stage = 'projection_built' WHERE id = ?", [jobId])
  return row?.stage === 'projection_built' || row?.stage === 'smoke_eval_passed'
}

function* publishOne(space: SpaceRow, item: Built, revision: number): Write<DocumentRow[]> {
  const { job, document, versionKey } = item
  yield* moveJob(job.id, 'projection_built', 'smoke_eval_passed')
  yield* moveJob(job.id, 'smoke_eval_passed', 'published')
  yield* advance(job.id, ['nodes-built', 'projections-built', 'published'])
  for (const old of yield* sql.all<{ key: number; first_node: number | null; last_node: number | null }>(
    'SELECT key, first_node, last_node FROM versions WHERE doc_key = ? AND key <> ? AND until_revision IS NULL',
    [document.key, versionKey],
  )) {
    yield* sql.run('UPDATE versions SET until_revision = ? WHERE key = ?', [revision, old.key])
    if (old.first_node === null || old.last_node === null) continue
    yield* sql.run('INSERT INTO projection_log (space_key, op, first_node, last_node) VALUES (?, -1, ?, ?)', [
      space.key,
      old.first_node,
      old.last_node,
    ])
  }
  yield* sql.run('UPDATE versions SET from_revision = ? WHERE key = ?', [revision, versionKey])
  const keep = (yield* retentionOf(space.key)).parseArtifactVersions
  if (job.version > keep)
    yield* sql.run('UPDATE versions SET obsolete_at = ? WHERE doc_key = ? AND version <= ? AND obsolete_at IS NULL', [
      Date.now(),
      document.key,
      job.version - keep,
    ])
  const meta = yield* sql.get<{ metadata: string; title: string }>(
    'SELECT metadata, title FROM versions WHERE key = ?',
    [versionKey],
  )
  yield* sql.run(
    `UPDATE documents SET parser_status = 'parsed', version = ?, error_code = NULL, error = NULL, updated_at = ?,
       mime_type = coalesce(json_extract(?, '$.mediaType'), mime_type), 
       metadata = CASE WHEN json_valid(metadata) THEN json_set(metadata, '$.title', ?) ELSE metadata END
     WHERE key = ?`,
    [job.version, Date.now(), meta?.metadata ?? '{}', meta?.title ?? document.filename, document.key],
  )
  return yield* retireNamesakes(document, revision)
}

/** Of documents with one name and source the newest one stays. */
function* retireNamesakes(document: DocumentRow, revision: number): Write<DocumentRow[]> {
  const others = yield* sql.all<DocumentRow>(
    // left to itself, the planner may walk the whole source
    `SELECT * FROM documents INDEXED BY documents_name WHERE space_key = ? AND filename = ? AND source_id IS ?
       AND key <> ? AND deleted_at IS NULL`,
    [document.space_key, document.filename, document.source_id, document.key],
  )
  const newer = others.some((other) => other.key > document.key && other.parser_status === 'parsed')
  const retired = newer ? [document] : others.filter((other) => other.key < document.key)
  for (const row of retired) yield* retireDocument(row, revision)
  return retired
}

/** What this publication took out of the index: the log entries that its own transaction wrote. */
function* logOf(spaceKey: number, revision: number): Read<{ seq: number; removed: number[] }> {
  const ranges = yield* sql.all<{ first_node: number; last_node: number }>(
    'SELECT first_node, last_node FROM versions WHERE space_key = ? AND until_revision = ? AND first_node IS NOT NULL',
    [spaceKey, revision],
  )
  if (ranges.length === 0) return { seq: 0, removed: [] }
  const seq =
    (yield* sql.get<{ seq: number }>('SELECT max(seq) seq FROM projection_log WHERE space_key = ?', [spaceKey]))?.seq ??
    0
  const removed: number[] = []
  for (const range of ranges) for (let key = range.first_node; key <= range.last_node; key++) removed.push(key)
  return { seq, removed }
}

function vectorRows(built: Built[], embedded: EmbeddedNodes | undefined): FilledVector[] {
  if (embedded === undefined) return []
  const rows: FilledVector[] = []
  let place = 0
  for (const { document, nodes } of built)
    for (const node of nodes) {
      const vector = embedded.vectors[place++]
      if (vector !== undefined) rows.push({ nodeKey: node.key, doc: document.key, vector })
    }
  return rows
}
