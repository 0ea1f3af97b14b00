import { setImmediate as turn } from 'node:timers/promises'
import type { GcCandidate, GcExecuted, IntegrityTarget } from '../../../contract/gateway/integrity.js'
import { isUuid } from '../../../lib/ids.js'
import { createRemoval, finishRemoval, removeUnreferenced } from '../../library/index.js'
import type { Driver } from '../../store/driver.js'
import { ObjectStore } from '../../store/objects.js'
import type { Write } from '../../store/program.js'
import { isBeingRead, isLeased } from '../../store/rows/held-leases.js'
import { beginRemovals, findObjectRow } from '../../store/rows/objects.js'
import { failExpiredCommit, moveCommit } from '../../store/rows/staged-commits.js'
import { deleteVectors } from '../../store/rows/vector-spaces.js'
import { removeUnpublishedVersion } from '../../store/rows/versions.js'
import { findCollectableCommit } from '../rows/integrity/commits.js'
import { findNodeKeyById } from '../rows/integrity/nodes.js'
import {
  findCollectionState,
  removeCollectionState,
  removeCollectionStatesBefore,
  setCollectionState,
} from '../rows/integrity/outcomes.js'
import { removeStrayNodes } from '../rows/integrity/repairs.js'
import { isOldTrace } from '../rows/integrity/traces.js'
import { listSupersededVectorSpaces } from '../rows/integrity/vectors.js'
import { findAbandonedVersion } from '../rows/integrity/versions.js'
import { removeTrace } from '../rows/purge/parts.js'
import { removeReplacedVectorSpace } from '../rows/retention/versions.js'
import type { IntegrityScan } from './findings.js'
import { getTraceCutoff, targetKey } from './gc-candidates.js'
import { isCompiling } from './lease-list.js'
import { isCollectable, isLeftover } from './raw-objects.js'
import { isTargetVisible } from './target-visibility.js'

const VECTORS_PER_TRANSACTION = 2000
/** How long outcomes are stored; a dry run is executed sooner. */
const OUTCOME_RETENTION_MS = 30 * 24 * 60 * 60 * 1000

/** A removal in progress: recorded before any file is removed, and finished by a repeated call. */
interface RemovalTicket {
  begin(): Write<void>
  end(): Write<void>
  forget(): Write<void>
}

/**
 * Removes candidates. The request only says where to look: each is checked again against rows and files, in the
 * transaction that removes it, so a forged or outdated candidate removes nothing.
 */
export async function executeCandidates(scan: IntegrityScan, candidates: GcCandidate[]): Promise<GcExecuted> {
  const items: GcExecuted['items'] = []
  for (const candidate of candidates) {
    const isRemoved =
      (await scan.context.db.read(isTargetVisible(scan, candidate.target))) && (await removeCandidate(scan, candidate))
    items.push({
      objectKey: getTargetLabel(candidate.target),
      idempotencyKey: candidate.idempotencyKey,
      status: isRemoved ? 'deleted' : 'skipped-active-lease',
    })
    await turn()
  }
  const deleted = items.filter((item) => item.status === 'deleted').length
  return { tenantId: scan.space.tenant, deleted, skipped: items.length - deleted, items }
}

function getTargetLabel({ objectKey, parseArtifactId, virtualPath, id, type }: IntegrityTarget): string {
  return objectKey ?? id ?? parseArtifactId ?? virtualPath ?? type
}

/** @returns whether it is removed, now or by an earlier call with the same key */
async function removeCandidate(scan: IntegrityScan, candidate: GcCandidate): Promise<boolean> {
  const { context, space, now } = scan
  const { db } = context
  const { target } = candidate
  const collection = {
    spaceKey: space.key,
    idempotencyKey: candidate.idempotencyKey,
    target: targetKey(target),
  }
  const outcome = await db.read(findCollectionState(collection))
  if (outcome === 'deleted') return true
  const names = [target.objectKey, target.id, target.documentAssetId, target.virtualPath]
  if ((await db.read(isLeased(context, space.key, names))) || (await db.read(isCompiling(space.key, names))))
    return false
  const ticket: RemovalTicket = {
    begin: () => setCollectionState(collection, 'deleting', getTargetLabel(target), now),
    *end() {
      yield* setCollectionState(collection, 'deleted', getTargetLabel(target), now)
      yield* removeCollectionStatesBefore(now - OUTCOME_RETENTION_MS)
    },
    forget: () => removeCollectionState(collection),
  }
  switch (candidate.candidateType) {
    case 'staged-object':
      return removeObject(scan, target.objectKey ?? '', ticket, outcome === 'deleting')
    case 'failed-commit':
      return collectCommit(scan, target.id ?? '', ticket)
    case 'parse-artifact':
      return removeVersion(scan, target.parseArtifactId ?? target.id ?? '', ticket)
    case 'artifact-segment':
      return removeStrayNode(scan, target.id ?? '', ticket)
    case 'index-projection':
      return removeVectorSpace(scan, target.id ?? '', ticket)
    case 'answer-trace':
      return removeOldTrace(scan, target.id ?? '', ticket)
  }
}

const NO_TICKET: RemovalTicket = { *begin() {}, *end() {}, *forget() {} }

/** Removes an orphaned object or temporary file. */
export async function removeObject(
  scan: IntegrityScan,
  objectKey: string,
  ticket: RemovalTicket = NO_TICKET,
  begun = false,
): Promise<boolean> {
  const { context, space, now } = scan
  const { db, objects } = context
  if (objectKey.startsWith('tmp/')) return removeStaged(scan, objectKey.slice('tmp/'.length), ticket, begun)
  if (!ObjectStore.isKeyOf(space.tenant, objectKey)) return false
  const file = await objects.describe(objectKey)
  const object = { tenant: space.tenant, key: objectKey }
  if (file === undefined && begun) return finishTicket(db, ticket)
  const ownRemoval = await db.write(function* () {
    const stored = file ?? { modifiedAt: (yield* findObjectRow(object))?.touched_at ?? now }
    if (!(yield* isCollectable(context, { key: objectKey, ...stored }, now))) return undefined
    const removal = createRemoval(context)
    const [begun] = yield* beginRemovals(object.tenant, [object.key], removal, now)
    if (begun?.outcome !== 'begun') return undefined
    yield* ticket.begin()
    return removal
  })
  if (ownRemoval === undefined) return false
  const removedKeys = await finishRemoval(context, space.tenant, [objectKey], ownRemoval)
  if (removedKeys.length > 0) return finishTicket(db, ticket)
  await db.write(() => ticket.forget())
  return false
}

async function removeStaged(scan: IntegrityScan, id: string, ticket: RemovalTicket, begun: boolean): Promise<boolean> {
  const { db, objects } = scan.context
  const file = (await objects.listStaged()).find((staged) => staged.id === id)
  if (file === undefined) return begun && finishTicket(db, ticket)
  const isStarted = await db.write(function* () {
    if (!(yield* isLeftover(scan, file))) return false
    yield* ticket.begin()
    return true
  })
  if (!isStarted) return false
  await objects.discard(id)
  return finishTicket(db, ticket)
}

async function finishTicket(db: Driver, ticket: RemovalTicket): Promise<true> {
  await db.write(() => ticket.end())
  return true
}

/** failed-terminal, canceled → gc-pending → bytes removed → gc-complete. */
export async function collectCommit(
  scan: IntegrityScan,
  id: string,
  ticket: RemovalTicket = NO_TICKET,
): Promise<boolean> {
  const { context, space, now } = scan
  const { db, objects } = context
  if (!isUuid(id)) return false
  const row = await db.write(function* () {
    const found = yield* findCollectableCommit(space.key, id, now)
    if (found === undefined) return undefined
    const status =
      found.status === 'failed-retryable' && (yield* failExpiredCommit(id, now)) ? 'failed-terminal' : found.status
    const pending =
      status === 'gc-pending' ||
      ((status === 'failed-terminal' || status === 'canceled') && (yield* moveCommit(id, status, 'gc-pending')))
    if (!pending) return undefined
    yield* ticket.begin()
    return found
  })
  if (row === undefined) return false
  await objects.discard(id)
  const key = row.published_object_key
  if (key !== null && ObjectStore.isKeyOf(space.tenant, key))
    await removeUnreferenced(context, space.tenant, [key], now)
  await db.write(function* () {
    yield* moveCommit(id, 'gc-pending', 'gc-complete')
    yield* ticket.end()
  })
  return true
}

async function removeVersion(scan: IntegrityScan, artifactId: string, ticket: RemovalTicket): Promise<boolean> {
  const { context, space } = scan
  const { db, indexes } = context
  if (await db.read(isBeingRead(context, space.key))) return false
  const dropped = await db.write(function* () {
    const abandoned = yield* findAbandonedVersion(space.key, artifactId)
    if (abandoned === undefined) return undefined
    const seq = yield* removeUnpublishedVersion(abandoned.doc_key, abandoned.version)
    yield* ticket.end()
    return seq
  })
  if (dropped === undefined) return false
  await indexes.follow(space.id, dropped)
  return true
}

async function removeStrayNode(scan: IntegrityScan, id: string, ticket: RemovalTicket): Promise<boolean> {
  const { context, space } = scan
  if (await context.db.read(isBeingRead(context, space.key))) return false
  const key = await context.db.read(findNodeKeyById(space.key, id))
  return key !== undefined && (await collectStrayNodes(scan, key, key, ticket)) > 0
}

/** Removes passages without a version, from rows and indexes. @returns their count */
export async function collectStrayNodes(
  { context, space }: IntegrityScan,
  first: number,
  last: number,
  ticket: RemovalTicket = NO_TICKET,
): Promise<number> {
  const { db, indexes } = context
  const removed = await db.write(function* () {
    const removed = yield* removeStrayNodes(space.key, first, last)
    if (removed.count > 0) yield* ticket.end()
    return removed
  })
  await indexes.follow(space.id, removed.seq)
  return removed.count
}

async function removeVectorSpace(scan: IntegrityScan, id: string, ticket: RemovalTicket): Promise<boolean> {
  const { context, space } = scan
  const { db, lsa } = context
  if (await db.read(isBeingRead(context, space.key))) return false
  for (;;) {
    const remaining = await db.write(function* () {
      const old = (yield* listSupersededVectorSpaces(space.key)).find((row) => row.id === id)
      if (old === undefined) return undefined
      const changes = yield* deleteVectors(old.key, VECTORS_PER_TRANSACTION)
      if (changes > 0) return changes
      yield* removeReplacedVectorSpace(old.key)
      yield* ticket.end()
      return 0
    })
    if (remaining === undefined) return false
    if (remaining > 0) continue
    lsa.unload(id)
    return true
  }
}

async function removeOldTrace(
  { context: { db }, space, now }: IntegrityScan,
  id: string,
  ticket: RemovalTicket,
): Promise<boolean> {
  return db.write(function* () {
    if (!(yield* isOldTrace(space.key, id, yield* getTraceCutoff(space.key, now)))) return false
    yield* removeTrace({ tenant: space.tenant, id })
    yield* ticket.end()
    return true
  })
}
