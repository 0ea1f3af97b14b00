import type { EngineContext } from '../context.js'
import { retireDocuments } from '../documents/delete.js'
import { readOn } from '../documents/read-on.js'
import { removeUnreferenced } from '../objects/remove.js'
import { type DocumentRow, namesakesOf } from '../rows/documents.js'
import { publishJobs } from '../rows/job-claims.js'
import { markPublished } from '../rows/job-documents.js'
import { heldStages, openJob } from '../rows/jobs.js'
import { publishNext } from '../rows/publications.js'
import { type SpaceRow, spaceByKey } from '../rows/spaces.js'
import { advance } from '../rows/staged-commits.js'
import { activeVectorSpace, type FilledVector, insertVectors, type VectorSpace } from '../rows/vector-spaces.js'
import { oweVectors } from '../rows/vectors-due.js'
import { areNotOver, markObsolete, showVersions } from '../rows/versions.js'
import { retentionOf } from '../spaces/retention-policy.js'
import type { Read, Write } from '../storage/program.js'
import type { EmbeddedNodes } from './embeddings.js'
import { addToIndex } from './vector-rows.js'
import { isTrained } from './vector-spaces.js'
import type { Built } from './work.js'

/** Maximum number of vectors in one transaction; vectors of more passages are stored before the publication. */
const VECTORS_AT_ONCE = 256

/**
 * Stores the vectors of a batch and publishes its versions, in one transaction; then updates the index. The vectors of
 * large versions are stored and indexed before, in slices.
 *
 * @returns false, with nothing changed, where the vectors belong to a model that the space no longer uses
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
  const published = await db.write(() => publish(space, built, embedded?.vectorSpace, rows), { lock: space.key })
  if (published === undefined) return false
  context.changes.changed(space.tenant, space.id)
  context.pageIndexes.published(space.key)
  context.pictures.published(space.key)
  context.conflicts.published(space.key)
  const { seq, retired, lost } = published
  for (const job of lost) context.log.warn({ job }, `the lease of job ${job} was lost before its publication`)
  await indexes.follow(space.id, seq)
  if (embedded !== undefined && rows.length > 0) await addToIndex(context, space, embedded.vectorSpace, rows)
  const replaced = retired.map((row) => row.object_key)
  await removeUnreferenced(context, space.tenant, replaced)
  return true
}

/** Last log entry that removes nodes from the index, 0 for none, and the documents that the publication retired. */
interface Published {
  seq: number
  retired: DocumentRow[]
  /** ids of jobs whose claim was lost: nothing of them was published */
  lost: string[]
}

/** @returns nothing, with nothing changed, where the vectors belong to a model that the space no longer uses */
function* publish(
  space: SpaceRow,
  built: readonly Built[],
  vectorSpace: VectorSpace | undefined,
  vectors: readonly FilledVector[],
): Write<Published | undefined> {
  const { held, lost } = yield* stillHeld(built)
  const live = yield* spaceByKey(space.key)
  const isProvided = live !== undefined && !isTrained(live)
  const hasNodes = held.some(({ nodes }) => nodes.length > 0)
  if (live !== undefined && hasNodes) {
    const current = isProvided ? undefined : yield* activeVectorSpace(live)
    if (current?.key !== vectorSpace?.key) return undefined
  }
  const moved = yield* publishJobs(held.map(({ job }) => job))
  const going = held.filter((_, place) => moved[place])
  if (going.length === 0) return { seq: 0, retired: [], lost }
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
  const keep = (yield* retentionOf(space.key)).parseArtifactVersions
  const shown = yield* show(space, going, revision, keep)
  yield* readOn(
    space,
    going.flatMap(({ document, pagesWait }) => (pagesWait ? document : [])),
  )
  if (isProvided) {
    const owed = going.filter(({ nodes }) => nodes.length > 0)
    yield* oweVectors(
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
  built: readonly Built[],
  { vectorSpace }: EmbeddedNodes,
  rows: readonly FilledVector[],
): Promise<boolean> {
  const { db } = context
  const items = new Map(built.map((item) => [item.document.key, item]))
  for (let from = 0; from < rows.length; from += VECTORS_AT_ONCE) {
    const slice = rows.slice(from, from + VECTORS_AT_ONCE)
    const stored = await db.write(() => storeSlice(space.key, vectorSpace, items, slice), { lock: space.key })
    if (stored === undefined) return false
    if (stored.length > 0) await addToIndex(context, space, vectorSpace, stored)
    await context.rightOfWay.giveWay()
  }
  return true
}

/** @returns the vectors whose versions are still needed; nothing where the space has another model */
function* storeSlice(
  spaceKey: number,
  vectorSpace: VectorSpace,
  items: ReadonlyMap<number, Built>,
  slice: readonly FilledVector[],
): Write<FilledVector[] | undefined> {
  const space = yield* spaceByKey(spaceKey)
  if (space === undefined) return []
  if ((yield* activeVectorSpace(space))?.key !== vectorSpace.key) return undefined
  const asked = [...new Set(slice.map(({ doc }) => doc))].flatMap((doc) => items.get(doc) ?? [])
  const stages = yield* heldStages(asked.map(({ job }) => job))
  const areLive = yield* areNotOver(asked.map(({ versionKey }) => versionKey))
  const live = asked.filter((_, place) => stages[place] !== undefined && areLive[place])
  const there = new Set(live.map(({ document }) => document.key))
  const wanted = slice.filter(({ doc }) => there.has(doc))
  yield* insertVectors(vectorSpace.key, wanted)
  return wanted
}

/**
 * Fencing: the row of a job is the lease of its document. A gateway that lost it, because others considered it dead,
 * publishes nothing; the current holder does. A job that ended otherwise, as by a deletion, is not published anyway.
 */
function* stillHeld(built: readonly Built[]): Read<{ held: Built[]; lost: string[] }> {
  const held: Built[] = []
  const lost: string[] = []
  const stages = yield* heldStages(built.map(({ job }) => job))
  for (const [place, item] of built.entries()) {
    if (stages[place] !== undefined) held.push(item)
    else if ((yield* openJob(item.job.key)) !== undefined) lost.push(item.job.id)
  }
  return { held, lost }
}

/** @param keptVersions count of versions of a document that are kept */
function* show(
  space: SpaceRow,
  going: readonly Built[],
  revision: number,
  keep: number,
): Write<Omit<Published, 'lost'>> {
  yield* advance(
    going.map(({ job }) => job.id),
    ['nodes-built', 'projections-built', 'published'],
  )
  const versions = going.map(({ job, document, versionKey }) => ({
    document,
    docKey: document.key,
    version: job.version,
    versionKey,
  }))
  const seq = yield* showVersions(space.key, versions, revision)
  const many = versions.filter(({ version }) => version > keep)
  yield* markObsolete(many.map(({ docKey, version }) => ({ docKey, upTo: version - keep })))
  yield* markPublished(versions)
  const namesakes = yield* retireNamesakes(
    space.key,
    going.map(({ document }) => document),
    revision,
  )
  return { seq: Math.max(seq, namesakes.seq), retired: namesakes.retired }
}

/** Of documents with one name and source only the newest one remains. */
function* retireNamesakes(
  spaceKey: number,
  documents: readonly DocumentRow[],
  revision: number,
): Write<Omit<Published, 'lost'>> {
  const namesakes = yield* namesakesOf(documents)
  const retired = new Map<number, DocumentRow>()
  for (const [place, document] of documents.entries()) {
    const others = namesakes[place] ?? []
    const isReplaced = others.some((other) => other.key > document.key && other.parser_status === 'parsed')
    for (const row of isReplaced ? [document] : others.filter((other) => other.key < document.key))
      retired.set(row.key, row)
  }
  return yield* retireDocuments(spaceKey, [...retired.values()], revision)
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
