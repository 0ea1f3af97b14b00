import { newId } from '../../../lib/ids.js'
import { retryUntilWritten } from '../../base/retry-until-written.js'
import { type EngineContext, embedTrained, isTrained } from '../../library/index.js'
import { LSA_MAX_DOCUMENTS, LSA_MIN_DOCUMENTS, trainLsa } from '../../models/index.js'
import type { Read, Write } from '../../store/program.js'
import { countPublishedNodes, listPublishedAfter, listUnembeddedAfter } from '../../store/rows/nodes.js'
import { findSpaceByKey, type SpaceRow } from '../../store/rows/spaces.js'
import {
  activateVectorSpace,
  deleteVectorSpace,
  deleteVectors,
  getActiveVectorSpace,
  insertCurrentVectors,
  insertTrainedVectorSpace,
  isVectorSpaceBuilding,
  listRemovableVectorSpaces,
  supersedeVectorSpace,
  type VectorSpace,
} from '../../store/rows/vector-spaces.js'
import { addToIndex } from './vector-rows.js'

const READ_BATCH = 64
const WRITE_BATCH = 256
const DELETED_PER_TRANSACTION = 2000
/**
 * Growth at which a model is trained again once nothing is being compiled. Folding new text in costs at most .015 nDCG,
 * and training a few thousand nodes takes seconds; a large space waits for more.
 */
const GROWTH_WHEN_IDLE = 1.1
const GROWTH_WHEN_IDLE_AND_LARGE = 1.5
/**
 * while documents are still being added, training waits for this growth: its cost then stays a small part of the total
 */
const GROWTH_WHEN_BUSY = 16
/** … and uses at most this many texts: that model is replaced when no more are added */
const TEXTS_WHEN_BUSY = 4000

/** Whether a space should get a new model now. */
export function* isTrainingDue(context: EngineContext, space: SpaceRow, busy: boolean): Read<boolean> {
  if (!isTrained(space)) return false
  const nodes = yield* countPublishedNodes(space.key)
  if (nodes < Math.max(LSA_MIN_DOCUMENTS, GROWTH_WHEN_IDLE * (getUntrainable(context).get(space.key) ?? 0)))
    return false
  const active = yield* getActiveVectorSpace(space)
  if (active === undefined) return true
  const idle = active.trainedNodes < LSA_MAX_DOCUMENTS ? GROWTH_WHEN_IDLE : GROWTH_WHEN_IDLE_AND_LARGE
  return nodes >= Math.max(1, active.trainedNodes) * (busy ? GROWTH_WHEN_BUSY : idle)
}

/** Node counts of spaces, by their keys, whose texts gave no model: training is tried again when there are more. */
const untrainable = new WeakMap<EngineContext, Map<number, number>>()

function getUntrainable(context: EngineContext): Map<number, number> {
  const known = untrainable.get(context) ?? new Map<number, number>()
  untrainable.set(context, known)
  return known
}

/**
 * Trains a model on the space's live nodes and makes it the space's vector space: vectors of all nodes are stored and
 * indexed under the new one first, then one transaction switches.
 *
 * @param busy whether documents are still being added
 */
export async function retrain(
  context: EngineContext,
  spaceKey: number,
  signal: AbortSignal,
  busy = false,
): Promise<void> {
  const { db, indexes, log } = context
  const space = await db.read(findSpaceByKey(spaceKey))
  if (space === undefined || !isTrained(space)) return
  const started = performance.now()
  const maxTexts = busy ? TEXTS_WHEN_BUSY : LSA_MAX_DOCUMENTS
  const building = await trainVectorSpace(context, space, { id: newId(), maxTexts }, signal)
  if (building === undefined) return
  let switched: boolean
  try {
    // the model was just written, and is read next
    await context.foregroundPriority.yieldToQueries()
    await fillVectors(context, space, building, { signal })
    switched = await db.write(() => switchVectorSpace(spaceKey, building), { lock: spaceKey })
  } catch (error) {
    if (!signal.aborted) await removeUnfinished(context, spaceKey, building, signal)
    throw error
  }
  if (!switched) {
    await deleteSuperseded(context, spaceKey)
    return
  }
  await indexes.activateVectors(space.id, building.id)
  // nodes that were embedded with the old model while this one was being filled
  await fillVectors(context, space, building, { signal })
  await retryUntilWritten(context, 'the end of a training', signal, () => deleteSuperseded(context, spaceKey))
  const { dimension, trainedNodes } = building
  const ms = Math.round(performance.now() - started)
  log.info({ space: space.id, nodes: trainedNodes, dimension, ms }, 'embedding model trained')
}

/** Removes an unfinished model, at the latest when the disk has space for that. */
async function removeUnfinished(
  context: EngineContext,
  spaceKey: number,
  { key }: VectorSpace,
  signal: AbortSignal,
): Promise<void> {
  const { db } = context
  await retryUntilWritten(context, 'the end of a training', signal, async () => {
    await db.write(() => supersedeVectorSpace(key, 'building'))
    await deleteSuperseded(context, spaceKey)
  })
}

interface TrainingOptions {
  /** id of the new vector space */
  id: string
  /** maximum number of training texts; a model of fewer than available is temporary */
  maxTexts?: number | undefined
}

/**
 * Trains a model on the space's live nodes, as a vector space that is not used yet.
 *
 * @returns nothing where the texts are not sufficient
 */
export async function trainVectorSpace(
  context: EngineContext,
  space: SpaceRow,
  { id, maxTexts = LSA_MAX_DOCUMENTS }: TrainingOptions,
  signal: AbortSignal,
): Promise<VectorSpace | undefined> {
  const { db, log } = context
  const nodes = await db.read(countPublishedNodes(space.key))
  const model = await trainLsa(sampleTexts(context, space.key, nodes, maxTexts), signal)
  if (model === undefined) {
    getUntrainable(context).set(space.key, nodes)
    log.info({ space: space.id, nodes }, 'the texts contain too few different words for an embedding model')
    return undefined
  }
  getUntrainable(context).delete(space.key)
  // a model of a part must be replaced by one of all texts
  const trainedNodes = maxTexts < LSA_MAX_DOCUMENTS ? Math.ceil(nodes / computeStride(nodes, maxTexts)) : nodes
  return db.write(() => insertTrainedVectorSpace(space, id, { ...model, trainedNodes }, context.instance))
}

/**
 * Computes a vector for every live node that has none in the vector space, in the rows and in the index.
 *
 * @param from key of the node after which to start
 * @returns key of the last processed node
 */
export async function fillVectors(
  context: EngineContext,
  space: SpaceRow,
  vectorSpace: VectorSpace,
  { signal, from = 0 }: { signal: AbortSignal; from?: number | undefined },
): Promise<number> {
  const { db } = context
  let after = from
  for (;;) {
    signal.throwIfAborted()
    const slice = await db.read(listUnembeddedAfter(space.key, vectorSpace.key, after, WRITE_BATCH))
    if (slice === undefined) return after
    const { rows } = slice
    after = slice.last
    if (rows.length === 0) {
      await context.foregroundPriority.yieldToQueries()
      continue
    }
    const vectors = await embedTrained(
      context,
      vectorSpace,
      rows.map((row) => `${row.title}\n${row.text}`),
    )
    const filled = rows.flatMap((row, index) => {
      const vector = vectors[index]
      return vector === undefined ? [] : [{ nodeKey: row.key, doc: row.doc_key, vector }]
    })
    if (filled.length === 0) continue
    const isWanted = await db.write(() => insertCurrentVectors(vectorSpace.key, filled))
    if (!isWanted) return after
    await addToIndex(context, space, vectorSpace, filled)
  }
}

function* switchVectorSpace(spaceKey: number, next: VectorSpace): Write<boolean> {
  const space = yield* findSpaceByKey(spaceKey)
  // other gateways considered this one dead, and dropped what it was filling
  if (space === undefined || !(yield* isVectorSpaceBuilding(next.key))) return false
  if (!isTrained(space)) {
    // a migration gave the space another model meanwhile
    yield* supersedeVectorSpace(next.key)
    return false
  }
  yield* activateVectorSpace(spaceKey, next)
  return true
}

/** Deletes the vectors of superseded models, slice by slice. @param stop ends it between two slices */
export async function deleteSuperseded(context: EngineContext, spaceKey: number, stop?: AbortSignal): Promise<void> {
  const { db } = context
  const old = await db.read(listRemovableVectorSpaces(spaceKey))
  for (const { key, id } of old) {
    for (;;) {
      if (stop?.aborted === true) return
      const deleted = await db.write(() => deleteVectors(key, DELETED_PER_TRANSACTION))
      if (deleted === 0) break
    }
    await db.write(() => deleteVectorSpace(key))
    context.lsa.unload(id)
  }
}

/** Node texts in key order; of a large space every n-th, so that the sample covers all of it. */
async function* sampleTexts(
  context: EngineContext,
  spaceKey: number,
  nodes: number,
  maxTexts: number,
): AsyncIterable<string[]> {
  const stride = computeStride(nodes, maxTexts)
  let after = 0
  let index = 0
  for (;;) {
    const rows = await context.db.read(listPublishedAfter(spaceKey, after, READ_BATCH))
    if (rows.length === 0) return
    after = rows.at(-1)?.key ?? after
    const texts: string[] = []
    for (const row of rows) if (index++ % stride === 0) texts.push(`${row.title}\n${row.text}`)
    if (texts.length > 0) yield texts
    await context.foregroundPriority.yieldToQueries()
  }
}

function computeStride(nodes: number, maxTexts: number): number {
  return Math.max(1, Math.ceil(nodes / maxTexts))
}
