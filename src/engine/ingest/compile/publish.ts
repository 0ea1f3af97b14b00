import {
  type EmbeddedNodes,
  type EngineContext,
  getRetentionRules,
  isTrained,
  queueRemainingPages,
  type RetiredDocuments,
  removeUnreferenced,
  retireDocuments,
} from '../../library/index.js'
import type { Read, Write } from '../../store/program.js'
import { type DocumentRow, listNamesakes, listObjectKeys } from '../../store/rows/documents.js'
import { publishJobs } from '../../store/rows/job-claims.js'
import { markDocumentsPublished } from '../../store/rows/job-documents.js'
import { findClaimedStages, findOpenJob } from '../../store/rows/jobs.js'
import { adoptNextFiles } from '../../store/rows/next-files.js'
import { publishNextRevision } from '../../store/rows/publications.js'
import { findSpaceByKey, type SpaceRow } from '../../store/rows/spaces.js'
import { advanceCommits } from '../../store/rows/staged-commits.js'
import {
  getActiveVectorSpace,
  insertVectors,
  type PassageVector,
  type VectorSpace,
} from '../../store/rows/vector-spaces.js'
import { markVectorsDue } from '../../store/rows/vectors-due.js'
import { areVersionsLive, markObsoleteUpTo, publishVersions } from '../../store/rows/versions.js'
import { addToIndex } from './vector-rows.js'
import type { BuiltWork } from './work.js'

/** Maximum number of vectors in one transaction; vectors of more passages are stored before the publication. */
const MAX_TRANSACTION_VECTORS = 256

/**
 * Stores the vectors of a batch and publishes its versions, in one transaction; then updates the index. The vectors of
 * large versions are stored and indexed before, in slices.
 *
 * @returns false, with nothing changed, where the vectors belong to a model that the space no longer uses
 */
export async function publishBatch(
  context: EngineContext,
  space: SpaceRow,
  built: BuiltWork[],
  embedded: EmbeddedNodes | undefined,
): Promise<boolean> {
  const { db, indexes } = context
  const all = toVectorRows(built, embedded)
  const isLarge = all.length > MAX_TRANSACTION_VECTORS
  if (isLarge && embedded !== undefined && !(await storeVectors(context, space, { ...embedded, built, rows: all })))
    return false
  const rows = isLarge ? [] : all
  await context.foregroundPriority.yieldToQueries()
  const published = await db.write(() => publishClaimed(space, built, embedded?.vectorSpace, rows), { lock: space.key })
  if (published === undefined) return false
  context.changes.report(space.tenant, space.id)
  context.pageIndexes.notePublication(space.key)
  context.pictures.notePublication(space.key)
  context.conflicts.published(space.key)
  const { seq, retired, replacedKeys, lost } = published
  for (const job of lost) context.log.warn({ job }, `the lease of job ${job} was lost before its publication`)
  await indexes.follow(space.id, seq)
  if (embedded !== undefined && rows.length > 0) await addToIndex(context, space, embedded.vectorSpace, rows)
  await removeUnreferenced(context, space.tenant, [...replacedKeys, ...retired.flatMap(listObjectKeys)])
  return true
}

/** Last log entry that removes nodes from the index, 0 for none, and the documents that the publication retired. */
interface PublicationResult {
  seq: number
  retired: DocumentRow[]
  /** keys of files that newer ones of their documents replaced */
  replacedKeys: string[]
  /** ids of jobs whose claim was lost: nothing of them was published */
  lost: string[]
}

/** @returns nothing, with nothing changed, where the vectors belong to a model that the space no longer uses */
function* publishClaimed(
  space: SpaceRow,
  built: readonly BuiltWork[],
  vectorSpace: VectorSpace | undefined,
  vectors: readonly PassageVector[],
): Write<PublicationResult | undefined> {
  const { held: claimed, lost } = yield* splitByClaim(built)
  const live = yield* findSpaceByKey(space.key)
  const isProvided = live !== undefined && !isTrained(live)
  const hasNodes = claimed.some(({ nodes }) => nodes.length > 0)
  if (live !== undefined && hasNodes) {
    const current = isProvided ? undefined : yield* getActiveVectorSpace(live)
    if (current?.key !== vectorSpace?.key) return undefined
  }
  const moved = yield* publishJobs(claimed.map(({ job }) => job))
  const publishable = claimed.filter((_, place) => moved[place])
  if (publishable.length === 0) return { seq: 0, retired: [], replacedKeys: [], lost }
  if (vectorSpace !== undefined) {
    const ours = new Set(publishable.map(({ document }) => document.key))
    yield* insertVectors(
      vectorSpace.key,
      vectors.filter(({ doc }) => ours.has(doc)),
    )
  }
  const { revision } = yield* publishNextRevision(
    space.key,
    publishable.map(({ document, job }) => `${document.id}@${job.version}`).join(' '),
  )
  const keep = (yield* getRetentionRules(space.key)).parseArtifactVersions
  const shown = yield* makeVersionsVisible(space, publishable, revision, keep)
  yield* queueRemainingPages(
    space,
    publishable.flatMap(({ document, hasRemainingPages }) => (hasRemainingPages ? document : [])),
  )
  if (isProvided) {
    const owed = publishable.filter(({ nodes }) => nodes.length > 0)
    yield* markVectorsDue(
      space.key,
      owed.map(({ versionKey }) => versionKey),
    )
  }
  return { ...shown, lost }
}

/**
 * Stores vectors of unpublished versions, and updates the index, slice by slice. A version that was dropped meanwhile,
 * or whose job was taken over, gets none.
 *
 * @returns false where the vectors belong to a model that the space no longer uses
 */
async function storeVectors(
  context: EngineContext,
  space: SpaceRow,
  {
    vectorSpace,
    built,
    rows,
  }: { vectorSpace: VectorSpace; built: readonly BuiltWork[]; rows: readonly PassageVector[] },
): Promise<boolean> {
  const { db } = context
  const items = new Map(built.map((item) => [item.document.key, item]))
  for (let from = 0; from < rows.length; from += MAX_TRANSACTION_VECTORS) {
    const slice = rows.slice(from, from + MAX_TRANSACTION_VECTORS)
    const stored = await db.write(() => storeVectorSlice(space.key, vectorSpace, items, slice), { lock: space.key })
    if (stored === undefined) return false
    if (stored.length > 0) await addToIndex(context, space, vectorSpace, stored)
    await context.foregroundPriority.yieldToQueries()
  }
  return true
}

/** @returns the vectors whose versions are still needed; nothing where the space has another model */
function* storeVectorSlice(
  spaceKey: number,
  vectorSpace: VectorSpace,
  items: ReadonlyMap<number, BuiltWork>,
  slice: readonly PassageVector[],
): Write<PassageVector[] | undefined> {
  const space = yield* findSpaceByKey(spaceKey)
  if (space === undefined) return []
  if ((yield* getActiveVectorSpace(space))?.key !== vectorSpace.key) return undefined
  const sliceItems = [...new Set(slice.map(({ doc }) => doc))].flatMap((doc) => items.get(doc) ?? [])
  const stages = yield* findClaimedStages(sliceItems.map(({ job }) => job))
  const areLive = yield* areVersionsLive(sliceItems.map(({ versionKey }) => versionKey))
  const live = sliceItems.filter((_, index) => stages[index] !== undefined && areLive[index])
  const liveKeys = new Set(live.map(({ document }) => document.key))
  const liveVectors = slice.filter(({ doc }) => liveKeys.has(doc))
  yield* insertVectors(vectorSpace.key, liveVectors)
  return liveVectors
}

/**
 * Fencing: the row of a job is the lease of its document. A gateway that lost it, because others considered it dead,
 * publishes nothing; the current holder does. A job that ended otherwise, as by a deletion, is not published anyway.
 */
function* splitByClaim(built: readonly BuiltWork[]): Read<{ held: BuiltWork[]; lost: string[] }> {
  const claimed: BuiltWork[] = []
  const lost: string[] = []
  const stages = yield* findClaimedStages(built.map(({ job }) => job))
  for (const [index, item] of built.entries()) {
    if (stages[index] !== undefined) claimed.push(item)
    else if ((yield* findOpenJob(item.job.key)) !== undefined) lost.push(item.job.id)
  }
  return { held: claimed, lost }
}

/** @param keptVersions count of versions of a document that are kept */
function* makeVersionsVisible(
  space: SpaceRow,
  items: readonly BuiltWork[],
  revision: number,
  keptVersions: number,
): Write<Omit<PublicationResult, 'lost'>> {
  yield* advanceCommits(
    items.map(({ job }) => job.id),
    ['nodes-built', 'projections-built', 'published'],
  )
  const versions = items.map(({ job, document, versionKey }) => ({
    document,
    docKey: document.key,
    version: job.version,
    versionKey,
  }))
  const seq = yield* publishVersions(space.key, versions, revision)
  const many = versions.filter(({ version }) => version > keptVersions)
  yield* markObsoleteUpTo(many.map(({ docKey, version }) => ({ docKey, upTo: version - keptVersions })))
  const replacedKeys = yield* adoptNextFiles(items.map(({ document }) => document))
  yield* markDocumentsPublished(versions)
  const namesakes = yield* retireNamesakes(
    space.key,
    items.map(({ document }) => document),
    revision,
  )
  return { seq: Math.max(seq, namesakes.seq), retired: namesakes.retired, replacedKeys }
}

/** Of documents with one name and source, as stores of earlier versions have them, only the newest one remains. */
function* retireNamesakes(
  spaceKey: number,
  documents: readonly DocumentRow[],
  revision: number,
): Write<RetiredDocuments> {
  const namesakes = yield* listNamesakes(documents)
  const retired = new Map<number, DocumentRow>()
  for (const [index, document] of documents.entries()) {
    const others = namesakes[index] ?? []
    const isReplaced = others.some((other) => other.key > document.key && other.parser_status === 'parsed')
    for (const row of isReplaced ? [document] : others.filter((other) => other.key < document.key))
      retired.set(row.key, row)
  }
  return yield* retireDocuments(spaceKey, [...retired.values()], revision)
}

function toVectorRows(built: BuiltWork[], embedded: EmbeddedNodes | undefined): PassageVector[] {
  if (embedded === undefined) return []
  const rows: PassageVector[] = []
  let index = 0
  for (const { document, nodes } of built)
    for (const node of nodes) {
      const vector = embedded.vectors[index++]
      if (vector !== undefined) rows.push({ nodeKey: node.key, doc: document.key, vector })
    }
  return rows
}
