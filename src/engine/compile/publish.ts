import { KsError } from '../../contract/errors.js'
import type { EngineContext } from '../context.js'
import { retireDocument } from '../documents/delete.js'
import { removeUnreferenced } from '../objects/remove.js'
import { type DocumentRow, documentsNamed } from '../rows/documents.js'
import { projectionBuilt } from '../rows/job-claims.js'
import { markPublished } from '../rows/job-documents.js'
import { moveJob, openJob } from '../rows/jobs.js'
import { lastSequence } from '../rows/projection-log.js'
import { publishNext } from '../rows/publications.js'
import { type SpaceRow, spaceByKey } from '../rows/spaces.js'
import { advance } from '../rows/staged-commits.js'
import { activeVectorSpace, type FilledVector, insertVectors, type VectorSpace } from '../rows/vector-spaces.js'
import { oweVectors } from '../rows/vectors-due.js'
import { isNotOver, markObsolete, nodesEndedAt, showVersion } from '../rows/versions.js'
import { retentionOf } from '../spaces/retention-policy.js'
import type { Read, Write } from '../storage/program.js'
import type { EmbeddedNodes } from './embeddings.js'
import { addToIndex } from './vector-rows.js'
import { isTrained } from './vector-spaces.js'
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
  const published = await db.write(() => publish(context, space, built, embedded?.vectorSpace, rows))
  if (published === undefined) return false
  context.pageIndexes.published(space.key)
  context.conflicts.published(space.key)
  const { seq, removed, retired } = published
  if (removed.length > 0) await indexes.apply(space.id, { seq, add: [], remove: removed })
  if (embedded !== undefined && rows.length > 0) await addToIndex(context, space, embedded.vectorSpace, rows)
  const replaced = retired.map((row) => row.object_key)
  await removeUnreferenced(context, space.tenant, replaced)
  return true
}

/** What a publication took out of the index, and the documents that it retired. */
interface Published {
  seq: number
  removed: number[]
  retired: DocumentRow[]
}

/** @returns nothing, with nothing done, where the vectors are of a model that the space does not use any more */
function* publish(
  context: EngineContext,
  space: SpaceRow,
  built: readonly Built[],
  vectorSpace: VectorSpace | undefined,
  vectors: readonly FilledVector[],
): Write<Published | undefined> {
  for (const item of built) yield* assertHeld(context, item)
  const live = yield* spaceByKey(space.key)
  const isProvided = live !== undefined && !isTrained(live)
  const hasNodes = built.some(({ nodes }) => nodes.length > 0)
  if (live !== undefined && hasNodes) {
    const current = isProvided ? undefined : yield* activeVectorSpace(live)
    if (current?.key !== vectorSpace?.key) return undefined
  }
  const going: Built[] = []
  for (const item of built) if (yield* projectionBuilt(item.job.id)) going.push(item)
  if (going.length === 0) return { seq: 0, removed: [], retired: [] }
  if (vectorSpace !== undefined) {
    const ours = new Set(going.map(({ document }) => document.key))
    yield* insertVectors(
      vectorSpace.key,
      vectors.filter(({ doc }) => ours.has(doc)),
    )
  }
  const { revision } = yield* publishNext(
    space.key,
    going.map(({ document, job }) => `${document.id}@${job.version}`).join(' '),
  )
  const retired: DocumentRow[] = []
  for (const item of going) {
    retired.push(...(yield* publishOne(space, item, revision)))
    if (isProvided && item.nodes.length > 0) yield* oweVectors(space.key, item.versionKey)
  }
  return { ...(yield* logOf(space.key, revision)), retired }
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
    const stored = await db.write(() => storeSlice(space.key, vectorSpace, versions, slice))
    if (stored === undefined) return false
    if (stored.length > 0) await addToIndex(context, space, vectorSpace, stored)
    await context.rightOfWay.giveWay()
  }
  return true
}

/** @returns the vectors whose versions are still wanted; nothing where the space has another model */
function* storeSlice(
  spaceKey: number,
  vectorSpace: VectorSpace,
  versions: ReadonlyMap<number, number>,
  slice: readonly FilledVector[],
): Write<FilledVector[] | undefined> {
  const live = yield* spaceByKey(spaceKey)
  if (live === undefined) return []
  if ((yield* activeVectorSpace(live))?.key !== vectorSpace.key) return undefined
  const there = new Set<number>()
  for (const doc of new Set(slice.map(({ doc }) => doc))) {
    const version = versions.get(doc)
    if (version !== undefined && (yield* isNotOver(version))) there.add(doc)
  }
  const wanted = slice.filter(({ doc }) => there.has(doc))
  yield* insertVectors(vectorSpace.key, wanted)
  return wanted
}

/**
 * Fencing: who lost the lease of a document meanwhile publishes nothing and tries again. A job that was ended by others, as
 * a deletion ends it, is not published anyway.
 */
function* assertHeld({ leases }: EngineContext, { job, lease }: Built): Read<void> {
  if (lease === undefined || leases.isCurrent(lease)) return
  const open = yield* openJob(job.key)
  if (open !== undefined) throw new KsError('unavailable', `the lease of job ${job.id} was lost before its publication`)
}

function* publishOne(space: SpaceRow, item: Built, revision: number): Write<DocumentRow[]> {
  const { job, document, versionKey } = item
  yield* moveJob(job.id, 'projection_built', 'smoke_eval_passed')
  yield* moveJob(job.id, 'smoke_eval_passed', 'published')
  yield* advance(job.id, ['nodes-built', 'projections-built', 'published'])
  yield* showVersion(space.key, document.key, versionKey, revision)
  const keep = (yield* retentionOf(space.key)).parseArtifactVersions
  if (job.version > keep) yield* markObsolete(document.key, job.version - keep)
  yield* markPublished(document, job.version, versionKey)
  return yield* retireNamesakes(document, revision)
}

/** Of documents with one name and source the newest one stays. */
function* retireNamesakes(document: DocumentRow, revision: number): Write<DocumentRow[]> {
  const named = yield* documentsNamed(document.space_key, document.source_id, document.filename)
  const others = named.filter(({ key }) => key !== document.key)
  const newer = others.some((other) => other.key > document.key && other.parser_status === 'parsed')
  const retired = newer ? [document] : others.filter((other) => other.key < document.key)
  for (const row of retired) yield* retireDocument(row, revision)
  return retired
}

/** What this publication took out of the index: the log entries that its own transaction wrote. */
function* logOf(spaceKey: number, revision: number): Read<{ seq: number; removed: number[] }> {
  const ranges = yield* nodesEndedAt(spaceKey, revision)
  if (ranges.length === 0) return { seq: 0, removed: [] }
  const seq = yield* lastSequence(spaceKey)
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
