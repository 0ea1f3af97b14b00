import type { EngineContext } from '../context.js'
import type { PreparedDocument, PreparedNode } from '../parse/compiled.js'
import { charactersOf, lengthOf } from '../parse/document-parts.js'
import { waitsForPages } from '../parse/ocr/pages-read.js'
import { heldStages, isHeldQueued, moveStored } from '../rows/jobs.js'
import { insertNodes, insertNodesOf } from '../rows/nodes.js'
import { logAdded } from '../rows/projection-log.js'
import type { SpaceRow } from '../rows/spaces.js'
import { advance } from '../rows/staged-commits.js'
import { insertParts } from '../rows/version-parts.js'
import {
  dropAllUnpublished,
  hasVersion,
  insertAssets,
  insertVersionRows,
  type MadeVersion,
  type VersionOwner,
} from '../rows/versions.js'
import type { FreshBatch, IndexedNode } from '../search/ports.js'
import { type VersionSize, versionOverQuota, versionsOverQuota } from '../spaces/quota.js'
import type { Read, Write } from '../storage/program.js'
import { takeNodeKeys } from './node-keys.js'
import type { Built, Work } from './work.js'

/**
 * Limits of one transaction, so that it blocks the event loop for only some milliseconds: bytes, passages, documents.
 */
const SLICE_BYTES = 512 * 1024
const SLICE_NODES = 500
const SLICE_DOCUMENTS = 32

/** What one item adds to a transaction. */
interface Weight {
  bytes: number
  nodes: number
}

/** A parsed document, with the job that stores it. */
export interface ReadWork {
  work: Work
  document: PreparedDocument
}

/** A document that exceeds a quota of the space. */
export interface Refused {
  work: Work
  failure: { code: string; message: string }
}

interface Outcome {
  built: Built[]
  refused: Refused[]
}

/** A document whose nodes have keys. */
interface KeyedWork extends ReadWork {
  /** first of the keys that are reserved for its nodes */
  firstNode: number
}

/** A version whose row exists, while the rest of it is being stored. */
interface Begun extends MadeVersion {
  item: KeyedWork
}

/** What one transaction adds to a version. */
interface Slice {
  nodes: readonly PreparedNode[]
  store(): Write<void>
}

/**
 * Stores versions with their nodes: small ones together, large ones in several transactions. A version is hidden until
 * it is published; the next run of its job drops an incomplete one. A document whose job ended or was taken over
 * meanwhile is omitted.
 *
 * @param later receives the index updates of small versions; where absent, they are applied before this returns
 * @returns the complete versions, and the documents that exceed a quota
 */
export async function storeVersions(
  context: EngineContext,
  space: SpaceRow,
  read: readonly ReadWork[],
  signal: AbortSignal,
  later?: ToFollow[],
): Promise<Outcome> {
  const outcome: Outcome = { built: [], refused: [] }
  const applied: Promise<void>[] = []
  const apply = (seq: number, nodes: readonly IndexedNode[] = []) => {
    const done = follow(context, space, toFollow(seq, nodes))
    // awaited when everything is stored; until then a failure must not count as unhandled
    done.catch(() => undefined)
    applied.push(done)
  }
  const applyLater = (into: ToFollow[]) => (seq: number, nodes?: readonly IndexedNode[]) => {
    // queries do not see it, and do not wait for it
    context.indexes.underWay(space.id, seq)
    into.push(toFollow(seq, nodes))
  }
  const applyTogether = later === undefined ? apply : applyLater(later)
  const weighed = (await withKeys(context, read)).map((item) => ({ item, weight: weightOf(item.document) }))
  for (const group of cut(weighed, ({ weight }) => weight, SLICE_DOCUMENTS)) {
    signal.throwIfAborted()
    const [alone] = group
    if (alone !== undefined && isLarge(alone.weight))
      await storeInSlices(context, space, alone.item, outcome, apply, signal)
    else {
      const items = group.map(({ item }) => item)
      await storeTogether(context, space, items, outcome, applyTogether)
    }
    await context.rightOfWay.giveWay()
  }
  await Promise.all(applied)
  return outcome
}

/** An entry of the index log that the index must reach, with its content where that is available. */
export interface ToFollow {
  seq: number
  fresh: FreshBatch | undefined
}

/** Resolves when the text index contains everything up to an entry. */
export function follow({ indexes }: EngineContext, space: { id: string }, { seq, fresh }: ToFollow): Promise<void> {
  return indexes.follow(space.id, seq, fresh)
}

function toFollow(seq: number, nodes: readonly IndexedNode[] = []): ToFollow {
  return { seq, fresh: nodes.length === 0 ? undefined : { first: seq, seq, add: [...nodes], remove: [] } }
}

/** Reserves keys for the nodes of documents. A canceled document leaves its keys unused. */
async function withKeys(context: EngineContext, read: readonly ReadWork[]): Promise<KeyedWork[]> {
  let next = await takeNodeKeys(
    context,
    read.reduce((sum, { document }) => sum + document.nodes.length, 0),
  )
  return read.map((item) => {
    const firstNode = next
    next += item.document.nodes.length
    return { ...item, firstNode }
  })
}

function isLarge({ bytes, nodes }: Weight): boolean {
  return bytes > SLICE_BYTES || nodes > SLICE_NODES
}

/** Stores small documents in one transaction. */
async function storeTogether(
  context: EngineContext,
  space: SpaceRow,
  group: readonly KeyedWork[],
  outcome: Outcome,
  apply: (seq: number, nodes?: readonly IndexedNode[]) => unknown,
): Promise<void> {
  const stored = await context.db.write(() => storeGroup(context, space, group), { lock: space.key })
  apply(stored.seq, stored.nodes)
  outcome.built.push(...stored.built)
  outcome.refused.push(...stored.refused)
}

interface StoredGroup extends Outcome {
  nodes: IndexedNode[]
  /** last entry of the index log */
  seq: number
}

function* storeGroup(context: EngineContext, space: SpaceRow, group: readonly KeyedWork[]): Write<StoredGroup> {
  const { dropped, begun, refused } = yield* beginAll(context, space, group, true)
  for (const { item, versionKey, parts } of begun) {
    yield* insertParts(space.key, versionKey, parts)
    yield* insertAssets(versionKey, item.document.assets)
  }
  yield* insertNodesOf(
    begun.map(({ item, versionKey }) => ({
      owner: { ...ownerOf(space, item.work), versionKey, firstNode: item.firstNode },
      nodes: item.document.nodes,
    })),
  )
  const built = yield* finishAll(begun)
  const nodes = begun.flatMap(({ item }) => toIndexed(item, item.document.nodes))
  return { built, refused, nodes, seq: Math.max(dropped, yield* logNodes(space, nodes)) }
}

/** Stores a large document slice by slice; other work runs between them. */
async function storeInSlices(
  context: EngineContext,
  space: SpaceRow,
  item: KeyedWork,
  outcome: Outcome,
  apply: (seq: number, nodes?: readonly IndexedNode[]) => unknown,
  signal: AbortSignal,
): Promise<void> {
  const { db } = context
  const { work, document } = item
  const lock = { lock: space.key }
  const made = await db.write(() => beginAll(context, space, [item], false), lock)
  apply(made.dropped)
  outcome.refused.push(...made.refused)
  const [begun] = made.begun
  if (begun === undefined) return
  let left = document.nodes.length
  for (const slice of slicesOf(space, begun)) {
    signal.throwIfAborted()
    await context.rightOfWay.giveWay()
    const nodes = toIndexed(item, slice.nodes)
    const stored = await db.write<{ seq: number } | { failure: Refused['failure'] } | undefined>(function* () {
      if (!(yield* goesOn(begun))) return undefined
      // others may have filled the space meanwhile
      const failure = yield* versionOverQuota(context, space, { artifactBytes: 0, segments: 0, nodes: left })
      if (failure !== undefined) return { failure }
      yield* slice.store()
      return { seq: yield* logNodes(space, nodes) }
    }, lock)
    if (stored === undefined) return
    if ('failure' in stored) {
      outcome.refused.push({ work, failure: stored.failure })
      return
    }
    apply(stored.seq, nodes)
    left -= slice.nodes.length
  }
  const built = await db.write(() => finishWanted(begun), lock)
  if (built !== undefined) outcome.built.push(built)
}

/**
 * Inserts the rows of versions, inside a transaction, and drops what earlier runs of their jobs left. A job that ended
 * or was taken over meanwhile is omitted.
 *
 * @returns with the last log entry that removes nodes from the index, 0 for none, and documents that exceed a quota
 * @param isWhole their nodes follow in the same transaction
 */
function* beginAll(
  context: EngineContext,
  space: SpaceRow,
  group: readonly KeyedWork[],
  isWhole: boolean,
): Write<{ dropped: number; begun: Begun[]; refused: Refused[] }> {
  const stages = yield* heldStages(group.map(({ work }) => work.job))
  const wanted = group.filter((_, place) => stages[place] === 'queued')
  const dropped = yield* dropAllUnpublished(wanted.map(({ work }) => ownerOf(space, work)))
  const sizes = wanted.map(({ document }) => sizeOf(document))
  const over = yield* versionsOverQuota(context, space, sizes)
  const refused: Refused[] = []
  const taken: KeyedWork[] = []
  for (const [place, item] of wanted.entries()) {
    const failure = over[place]
    if (failure === undefined) taken.push(item)
    else refused.push({ work: item.work, failure })
  }
  const made = yield* insertVersionRows(
    taken.map(({ work, document, firstNode }) => ({
      owner: ownerOf(space, work),
      document,
      ...(isWhole ? { firstNode } : {}),
    })),
  )
  const begun = taken.flatMap((item, place): Begun[] => {
    const version = made[place]
    return version === undefined ? [] : [{ item, ...version }]
  })
  return { dropped, begun, refused }
}

/**
 * Adds nodes to the index log, as one entry at the end of the transaction that stores them: it locks the log from here
 * on.
 *
 * @returns the entry; 0 for no nodes
 */
function* logNodes(space: SpaceRow, nodes: readonly IndexedNode[]): Write<number> {
  const [first] = nodes
  const last = nodes.at(-1)
  return first === undefined || last === undefined ? 0 : yield* logAdded(space.key, first.key, last.key)
}

/** The data of a version besides its row, in slices of one transaction each. */
function* slicesOf(space: SpaceRow, { item, versionKey, parts }: Begun): Iterable<Slice> {
  const { work, document, firstNode } = item
  for (const slice of cut(parts, ({ bytes }) => ({ bytes: bytes.length, nodes: 0 })))
    yield { nodes: [], store: () => insertParts(space.key, versionKey, slice) }
  for (const assets of cut(document.assets, ({ bytes }) => ({ bytes: bytes.length, nodes: 0 })))
    yield { nodes: [], store: () => insertAssets(versionKey, assets) }
  const owner = { ...ownerOf(space, work), versionKey, firstNode }
  for (const nodes of cut(document.nodes, (node) => ({ bytes: lengthOf(node), nodes: 1 })))
    yield { nodes, store: () => insertNodes(owner, nodes) }
}

/** Groups consecutive items that fit into one transaction; an item above the limit is alone. */
function* cut<T>(things: readonly T[], weigh: (thing: T) => Weight, most = SLICE_NODES): Iterable<T[]> {
  let slice: T[] = []
  let bytes = 0
  let nodes = 0
  for (const thing of things) {
    const weight = weigh(thing)
    bytes += weight.bytes
    nodes += weight.nodes
    if (slice.length > 0 && (bytes > SLICE_BYTES || nodes > SLICE_NODES || slice.length >= most)) {
      yield slice
      slice = []
      bytes = weight.bytes
      nodes = weight.nodes
    }
    slice.push(thing)
  }
  if (slice.length > 0) yield slice
}

/**
 * Whether a version that is being stored is still needed: ending its job, or taking it over, removes the version, too.
 */
function* goesOn({ item: { work }, versionKey }: Begun): Read<boolean> {
  return (yield* hasVersion(versionKey, work.job.version)) && (yield* isHeldQueued(work.job))
}

function* finishWanted(begun: Begun): Write<Built | undefined> {
  return (yield* goesOn(begun)) ? (yield* finishAll([begun]))[0] : undefined
}

/**
 * Advances the jobs of completely stored versions, inside the caller's transaction, without visible stages in between.
 */
function* finishAll(begun: readonly Begun[]): Write<Built[]> {
  const jobs = begun.map(({ item }) => item.work.job)
  yield* moveStored(jobs)
  yield* advance(
    jobs.map(({ id }) => id),
    ['metadata-prepared', 'artifacts-built', 'nodes-built'],
  )
  return begun.map(({ item: { work, document, firstNode }, versionKey }) => {
    const nodes = document.nodes.map(({ ordinal, title, text }) => ({ key: firstNode + ordinal, title, text }))
    const built = { versionKey, nodes, pagesWait: waitsForPages(document.metadata) }
    return { ...work, job: { ...work.job, stage: 'nodes_generated' as const }, ...built }
  })
}

function ownerOf(space: SpaceRow, { job, document }: Work): VersionOwner {
  return { spaceKey: space.key, docKey: document.key, version: job.version }
}

function toIndexed({ work, firstNode }: KeyedWork, nodes: readonly PreparedNode[]): IndexedNode[] {
  const doc = work.document.key
  return nodes.map(({ ordinal, title, text }) => ({ key: firstNode + ordinal, doc, title, body: text }))
}

function sizeOf({ artifact, outline, items, assets, segments, nodes }: PreparedDocument): VersionSize {
  const pictures = assets.reduce((sum, { bytes }) => sum + bytes.length, 0)
  return { artifactBytes: artifact.length + outline.length + items.length + pictures, segments, nodes: nodes.length }
}

function weightOf(document: PreparedDocument): Weight {
  const { artifactBytes, nodes } = sizeOf(document)
  return { bytes: artifactBytes + charactersOf(document.nodes), nodes }
}
