import { checkVersionQuota, checkVersionQuotas, type EngineContext, type VersionSize } from '../../library/index.js'
import { countCharacters, getNodeLength } from '../../readers/index.js'
import type { FreshBatch, IndexedNode } from '../../search/index.js'
import type { PreparedDocument, PreparedNode } from '../../store/compiled.js'
import type { Read, Write } from '../../store/program.js'
import { hasPendingPages } from '../../store/recognised-pages.js'
import { findClaimedStages, isClaimedAndQueued, markJobsStored } from '../../store/rows/jobs.js'
import { insertNodes, insertNodesOfVersions } from '../../store/rows/nodes.js'
import { logAdded } from '../../store/rows/projection-log.js'
import type { SpaceRow } from '../../store/rows/spaces.js'
import { advanceCommits } from '../../store/rows/staged-commits.js'
import { insertVersionParts } from '../../store/rows/version-parts.js'
import {
  hasVersion,
  type InsertedVersion,
  insertAssets,
  insertVersionRows,
  removeUnpublishedVersions,
  type VersionOwner,
} from '../../store/rows/versions.js'
import { allocateNodeKeys } from './node-keys.js'
import type { BuiltWork, CompileWork } from './work.js'

/** Limits of one transaction, so that it blocks the event loop only briefly: bytes, passages, documents. */
const SLICE_BYTES = 512 * 1024
const SLICE_NODES = 500
const SLICE_DOCUMENTS = 32

/** What one item adds to a transaction. */
interface StorageWeight {
  bytes: number
  nodes: number
}

/** A parsed document, with the job that stores it. */
export interface ParsedWork {
  work: CompileWork
  document: PreparedDocument
}

export interface RefusedDocument {
  work: CompileWork
  failure: { code: string; message: string }
}

interface StoreVersionsResult {
  built: BuiltWork[]
  refused: RefusedDocument[]
  /** the updates of small versions, which the index has not received */
  indexUpdates: IndexUpdate[]
}

/** A running `storeVersions`. */
interface VersionStorage {
  context: EngineContext
  space: SpaceRow
  signal: AbortSignal
  result: StoreVersionsResult
  /** updates of large versions, which the index is receiving */
  applied: Promise<void>[]
}

/** A document whose nodes have keys. */
interface KeyedWork extends ParsedWork {
  /** first of the keys that are reserved for its nodes */
  firstNode: number
}

/** A version whose row exists, while the rest of it is being stored. */
interface StartedVersion extends InsertedVersion {
  item: KeyedWork
}

/** What one transaction adds to a version. */
interface VersionSlice {
  nodes: readonly PreparedNode[]
  store(): Write<void>
}

/**
 * Stores versions with their nodes: small ones together, large ones in several transactions. A version is hidden until
 * it is published; the next run of its job drops an incomplete one. A document whose job ended or was taken over
 * meanwhile is omitted.
 *
 * @returns the complete versions, and the documents that exceed a quota
 */
export async function storeVersions(
  context: EngineContext,
  space: SpaceRow,
  read: readonly ParsedWork[],
  signal: AbortSignal,
): Promise<StoreVersionsResult> {
  const result: StoreVersionsResult = { built: [], refused: [], indexUpdates: [] }
  const storage: VersionStorage = { context, space, signal, result, applied: [] }
  const weighed = (await assignNodeKeys(context, read)).map((item) => ({ item, weight: measureWeight(item.document) }))
  for (const group of groupByWeight(weighed, ({ weight }) => weight, SLICE_DOCUMENTS)) {
    signal.throwIfAborted()
    const [alone] = group
    const items = group.map(({ item }) => item)
    if (alone !== undefined && isLarge(alone.weight)) await storeInSlices(storage, alone.item)
    else await storeTogether(storage, items)
    await context.foregroundPriority.yieldToQueries()
  }
  await Promise.all(storage.applied)
  return result
}

/** An entry of the index log that the index must reach, with its content where that is available. */
export interface IndexUpdate {
  seq: number
  fresh: FreshBatch | undefined
}

/** Resolves when the text index contains everything up to an entry. */
export function applyIndexUpdate(
  { indexes }: EngineContext,
  space: { id: string },
  { seq, fresh }: IndexUpdate,
): Promise<void> {
  return indexes.follow(space.id, seq, fresh)
}

function createIndexUpdate(seq: number, nodes: readonly IndexedNode[] = []): IndexUpdate {
  return { seq, fresh: nodes.length === 0 ? undefined : { first: seq, seq, add: [...nodes], remove: [] } }
}

/** Reserves keys for the nodes of documents. A canceled document leaves its keys unused. */
async function assignNodeKeys(context: EngineContext, read: readonly ParsedWork[]): Promise<KeyedWork[]> {
  let next = await allocateNodeKeys(
    context,
    read.reduce((sum, { document }) => sum + document.nodes.length, 0),
  )
  return read.map((item) => {
    const firstNode = next
    next += item.document.nodes.length
    return { ...item, firstNode }
  })
}

function isLarge({ bytes, nodes }: StorageWeight): boolean {
  return bytes > SLICE_BYTES || nodes > SLICE_NODES
}

async function storeTogether({ context, space, result }: VersionStorage, group: readonly KeyedWork[]): Promise<void> {
  const stored = await context.db.write(() => storeGroup(context, space, group), { lock: space.key })
  // queries do not see it, and do not wait for it
  context.indexes.announce(space.id, stored.seq)
  result.indexUpdates.push(createIndexUpdate(stored.seq, stored.nodes))
  result.built.push(...stored.built)
  result.refused.push(...stored.refused)
}

interface StoredGroup extends Omit<StoreVersionsResult, 'indexUpdates'> {
  nodes: IndexedNode[]
  /** last entry of the index log */
  seq: number
}

function* storeGroup(context: EngineContext, space: SpaceRow, group: readonly KeyedWork[]): Write<StoredGroup> {
  const { dropped, begun, refused } = yield* beginAll(context, space, group, true)
  for (const { item, versionKey, parts } of begun) {
    yield* insertVersionParts(space.key, versionKey, parts)
    yield* insertAssets(versionKey, item.document.assets)
  }
  yield* insertNodesOfVersions(
    begun.map(({ item, versionKey }) => ({
      owner: { ...toVersionOwner(space, item.work), versionKey, firstNode: item.firstNode },
      nodes: item.document.nodes,
    })),
  )
  const built = yield* finishAll(begun)
  const nodes = begun.flatMap(({ item }) => toIndexed(item, item.document.nodes))
  return { built, refused, nodes, seq: Math.max(dropped, yield* logAddedNodes(space, nodes)) }
}

/** Stores a large document slice by slice; other work runs between them. */
async function storeInSlices(
  { context, space, signal, result, applied }: VersionStorage,
  item: KeyedWork,
): Promise<void> {
  const { db } = context
  const apply = (seq: number, nodes: readonly IndexedNode[] = []) => {
    const done = applyIndexUpdate(context, space, createIndexUpdate(seq, nodes))
    // awaited when everything is stored; until then a failure must not count as unhandled
    done.catch(() => undefined)
    applied.push(done)
  }
  const { work, document } = item
  const lock = { lock: space.key }
  const started = await db.write(() => beginAll(context, space, [item], false), lock)
  apply(started.dropped)
  result.refused.push(...started.refused)
  const [begun] = started.begun
  if (begun === undefined) return
  let remainingNodes = document.nodes.length
  for (const slice of sliceVersion(space, begun)) {
    signal.throwIfAborted()
    await context.foregroundPriority.yieldToQueries()
    const nodes = toIndexed(item, slice.nodes)
    const stored = await db.write<{ seq: number } | { failure: RefusedDocument['failure'] } | undefined>(function* () {
      if (!(yield* isStillNeeded(begun))) return undefined
      // others may have filled the space meanwhile
      const failure = yield* checkVersionQuota(context, space, { artifactBytes: 0, segments: 0, nodes: remainingNodes })
      if (failure !== undefined) return { failure }
      yield* slice.store()
      return { seq: yield* logAddedNodes(space, nodes) }
    }, lock)
    if (stored === undefined) return
    if ('failure' in stored) {
      result.refused.push({ work, failure: stored.failure })
      return
    }
    apply(stored.seq, nodes)
    remainingNodes -= slice.nodes.length
  }
  const built = await db.write(function* () {
    return (yield* isStillNeeded(begun)) ? yield* finishAll([begun]) : []
  }, lock)
  result.built.push(...built)
}

/**
 * Inserts the rows of versions, inside a transaction, and drops what earlier runs of their jobs left. A job that ended
 * or was taken over meanwhile is omitted.
 * @returns with the last log entry that removes nodes from the index, 0 for none, and documents that exceed a quota
 * @param isWhole their nodes follow in the same transaction
 */
function* beginAll(
  context: EngineContext,
  space: SpaceRow,
  group: readonly KeyedWork[],
  isWhole: boolean,
): Write<{ dropped: number; begun: StartedVersion[]; refused: RefusedDocument[] }> {
  const stages = yield* findClaimedStages(group.map(({ work }) => work.job))
  const claimed = group.filter((_, index) => stages[index] === 'queued')
  const dropped = yield* removeUnpublishedVersions(claimed.map(({ work }) => toVersionOwner(space, work)))
  const sizes = claimed.map(({ document }) => measureVersion(document))
  const over = yield* checkVersionQuotas(context, space, sizes)
  const refused: RefusedDocument[] = []
  const accepted: KeyedWork[] = []
  for (const [index, item] of claimed.entries()) {
    const failure = over[index]
    if (failure === undefined) accepted.push(item)
    else refused.push({ work: item.work, failure })
  }
  const versions = yield* insertVersionRows(
    accepted.map(({ work, document, firstNode }) => ({
      owner: toVersionOwner(space, work),
      document,
      ...(isWhole ? { firstNode } : {}),
    })),
  )
  const begun = accepted.flatMap((item, index): StartedVersion[] => {
    const version = versions[index]
    return version === undefined ? [] : [{ item, ...version }]
  })
  return { dropped, begun, refused }
}

/** Adds nodes to the index log as one entry, which locks the log: call it last. @returns the entry; 0 for no nodes */
function* logAddedNodes(space: SpaceRow, nodes: readonly IndexedNode[]): Write<number> {
  const [first] = nodes
  const last = nodes.at(-1)
  return first === undefined || last === undefined ? 0 : yield* logAdded(space.key, first.key, last.key)
}

/** The data of a version besides its row, in slices of one transaction each. */
function* sliceVersion(space: SpaceRow, { item, versionKey, parts }: StartedVersion): Iterable<VersionSlice> {
  const { work, document, firstNode } = item
  for (const slice of groupByWeight(parts, ({ bytes }) => ({ bytes: bytes.length, nodes: 0 })))
    yield { nodes: [], store: () => insertVersionParts(space.key, versionKey, slice) }
  for (const assets of groupByWeight(document.assets, ({ bytes }) => ({ bytes: bytes.length, nodes: 0 })))
    yield { nodes: [], store: () => insertAssets(versionKey, assets) }
  const owner = { ...toVersionOwner(space, work), versionKey, firstNode }
  for (const nodes of groupByWeight(document.nodes, (node) => ({ bytes: getNodeLength(node), nodes: 1 })))
    yield { nodes, store: () => insertNodes(owner, nodes) }
}

/** Groups consecutive items that fit into one transaction; an item above the limit is alone. */
function* groupByWeight<T>(items: readonly T[], weigh: (item: T) => StorageWeight, max = SLICE_NODES): Iterable<T[]> {
  let slice: T[] = []
  let bytes = 0
  let nodes = 0
  for (const item of items) {
    const weight = weigh(item)
    bytes += weight.bytes
    nodes += weight.nodes
    if (slice.length > 0 && (bytes > SLICE_BYTES || nodes > SLICE_NODES || slice.length >= max)) {
      yield slice
      slice = []
      bytes = weight.bytes
      nodes = weight.nodes
    }
    slice.push(item)
  }
  if (slice.length > 0) yield slice
}

/** Whether a version that is being stored is still needed: ending or taking over its job removes it. */
function* isStillNeeded({ item: { work }, versionKey }: StartedVersion): Read<boolean> {
  return (yield* hasVersion(versionKey, work.job.version)) && (yield* isClaimedAndQueued(work.job))
}

/** Advances the jobs of complete versions, inside the caller's transaction, without visible stages in between. */
function* finishAll(begun: readonly StartedVersion[]): Write<BuiltWork[]> {
  const jobs = begun.map(({ item }) => item.work.job)
  yield* markJobsStored(jobs)
  yield* advanceCommits(
    jobs.map(({ id }) => id),
    ['metadata-prepared', 'artifacts-built', 'nodes-built'],
  )
  return begun.map(({ item: { work, document, firstNode }, versionKey }) => {
    const nodes = document.nodes.map(({ ordinal, title, text }) => ({ key: firstNode + ordinal, title, text }))
    const built = { versionKey, nodes, hasRemainingPages: hasPendingPages(document.metadata) }
    return { ...work, job: { ...work.job, stage: 'nodes_generated' as const }, ...built }
  })
}

function toVersionOwner(space: SpaceRow, { job, document }: CompileWork): VersionOwner {
  return { spaceKey: space.key, docKey: document.key, version: job.version }
}

function toIndexed({ work, firstNode }: KeyedWork, nodes: readonly PreparedNode[]): IndexedNode[] {
  const doc = work.document.key
  return nodes.map(({ ordinal, title, text }) => ({ key: firstNode + ordinal, doc, title, body: text }))
}

function measureVersion({ artifact, outline, items, assets, segments, nodes }: PreparedDocument): VersionSize {
  const pictures = assets.reduce((sum, { bytes }) => sum + bytes.length, 0)
  return { artifactBytes: artifact.length + outline.length + items.length + pictures, segments, nodes: nodes.length }
}

function measureWeight(document: PreparedDocument): StorageWeight {
  const { artifactBytes, nodes } = measureVersion(document)
  return { bytes: artifactBytes + countCharacters(document.nodes), nodes }
}
