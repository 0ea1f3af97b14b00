import { setImmediate as turn } from 'node:timers/promises'
import type { GcCandidate, GcExecuted, IntegrityTarget } from '../../contract/gateway/integrity.js'
import { isUuid } from '../../lib/ids.js'
import { finishRemoval, newRemoval, removeUnreferenced } from '../objects/remove.js'
import { isHeldBy, isRead } from '../rows/held-leases.js'
import { collectableCommit } from '../rows/integrity/commits.js'
import { nodeKeyOf } from '../rows/integrity/nodes.js'
import { outcomeOf, putOutcome, removeOutcome, removeOutcomesBefore } from '../rows/integrity/outcomes.js'
import { removeStrayNodes } from '../rows/integrity/repairs.js'
import { isOldTrace } from '../rows/integrity/traces.js'
import { supersededVectorSpaces } from '../rows/integrity/vectors.js'
import { abandonedVersion } from '../rows/integrity/versions.js'
import { beginRemovals, objectRow } from '../rows/objects.js'
import { removeTrace } from '../rows/purge/parts.js'
import { removeSupersededModel } from '../rows/retention/versions.js'
import { giveUpExpired, moveCommit } from '../rows/staged-commits.js'
import { deleteVectors } from '../rows/vector-spaces.js'
import { dropUnpublished } from '../rows/versions.js'
import type { Driver } from '../storage/driver.js'
import { ObjectStore } from '../storage/objects.js'
import type { Write } from '../storage/program.js'
import { isKnown } from './audience.js'
import type { Scan } from './findings.js'
import { targetName, traceCutoff } from './gc-candidates.js'
import { isCompiling } from './lease-list.js'
import { isCollectable, isLeftover } from './raw-objects.js'

const VECTORS_A_TRANSACTION = 2000
/** How long outcomes are stored; a dry run is executed sooner. */
const REMEMBER_MS = 30 * 24 * 60 * 60 * 1000

/** A removal in progress: recorded before any file is removed, and finished by a repeated call. */
interface Ticket {
  begin(): Write<void>
  end(): Write<void>
  forget(): Write<void>
}

/**
 * Removes candidates. The request only says where to look: each is checked again against rows and files, in the
 * transaction that removes it, so a forged or outdated candidate removes nothing.
 */
export async function executeCandidates(scan: Scan, candidates: GcCandidate[]): Promise<GcExecuted> {
  const items: GcExecuted['items'] = []
  for (const candidate of candidates) {
    const gone = (await scan.context.db.read(isKnown(scan, candidate.target))) && (await removeOne(scan, candidate))
    items.push({
      objectKey: nameOf(candidate.target),
      idempotencyKey: candidate.idempotencyKey,
      status: gone ? 'deleted' : 'skipped-active-lease',
    })
    await turn()
  }
  const deleted = items.filter((item) => item.status === 'deleted').length
  return { tenantId: scan.space.tenant, deleted, skipped: items.length - deleted, items }
}

function nameOf({ objectKey, parseArtifactId, virtualPath, id, type }: IntegrityTarget): string {
  return objectKey ?? id ?? parseArtifactId ?? virtualPath ?? type
}

/** @returns whether it is removed, now or by an earlier call with the same key */
async function removeOne(scan: Scan, candidate: GcCandidate): Promise<boolean> {
  const { context, space, now } = scan
  const { db } = context
  const { target } = candidate
  const collection = {
    spaceKey: space.key,
    idempotencyKey: candidate.idempotencyKey,
    target: targetName(target),
  }
  const known = await db.read(outcomeOf(collection))
  if (known === 'deleted') return true
  const names = [target.objectKey, target.id, target.documentAssetId, target.virtualPath]
  if ((await db.read(isHeldBy(context, space.key, names))) || (await db.read(isCompiling(space.key, names))))
    return false
  const ticket: Ticket = {
    begin: () => putOutcome(collection, 'deleting', nameOf(target), now),
    *end() {
      yield* putOutcome(collection, 'deleted', nameOf(target), now)
      yield* removeOutcomesBefore(now - REMEMBER_MS)
    },
    forget: () => removeOutcome(collection),
  }
  switch (candidate.candidateType) {
    case 'staged-object':
      return removeObject(scan, target.objectKey ?? '', ticket, known === 'deleting')
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

const NO_TICKET: Ticket = { *begin() {}, *end() {}, *forget() {} }

/** Removes an orphaned object or temporary file. */
export async function removeObject(
  scan: Scan,
  objectKey: string,
  ticket: Ticket = NO_TICKET,
  begun = false,
): Promise<boolean> {
  const { context, space, now } = scan
  const { db, objects } = context
  if (objectKey.startsWith('tmp/')) return removeStaged(scan, objectKey.slice('tmp/'.length), ticket, begun)
  if (!ObjectStore.isKeyOf(space.tenant, objectKey)) return false
  const file = await objects.describe(objectKey)
  const object = { tenant: space.tenant, key: objectKey }
  if (file === undefined && begun) return finish(db, ticket)
  const ours = await db.write(function* () {
    const seen = file ?? { modifiedAt: (yield* objectRow(object))?.touched_at ?? now }
    if (!(yield* isCollectable(context, { key: objectKey, ...seen }, now))) return undefined
    const removal = newRemoval(context)
    const [begun] = yield* beginRemovals(object.tenant, [object.key], removal, now)
    if (begun?.outcome !== 'begun') return undefined
    yield* ticket.begin()
    return removal
  })
  if (ours === undefined) return false
  const gone = await finishRemoval(context, space.tenant, [objectKey], ours)
  if (gone.length > 0) return finish(db, ticket)
  await db.write(() => ticket.forget())
  return false
}

async function removeStaged(scan: Scan, id: string, ticket: Ticket, begun: boolean): Promise<boolean> {
  const { db, objects } = scan.context
  const file = (await objects.listStaged()).find((staged) => staged.id === id)
  if (file === undefined) return begun && finish(db, ticket)
  const ours = await db.write(function* () {
    if (!(yield* isLeftover(scan, file))) return false
    yield* ticket.begin()
    return true
  })
  if (!ours) return false
  await objects.discard(id)
  return finish(db, ticket)
}

async function finish(db: Driver, ticket: Ticket): Promise<true> {
  await db.write(() => ticket.end())
  return true
}

/** failed-terminal, canceled → gc-pending → bytes removed → gc-complete. */
export async function collectCommit(scan: Scan, id: string, ticket: Ticket = NO_TICKET): Promise<boolean> {
  const { context, space, now } = scan
  const { db, objects } = context
  if (!isUuid(id)) return false
  const row = await db.write(function* () {
    const found = yield* collectableCommit(space.key, id, now)
    if (found === undefined) return undefined
    const status =
      found.status === 'failed-retryable' && (yield* giveUpExpired(id, now)) ? 'failed-terminal' : found.status
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

async function removeVersion(scan: Scan, artifactId: string, ticket: Ticket): Promise<boolean> {
  const { context, space } = scan
  const { db, indexes } = context
  if (await db.read(isRead(context, space.key))) return false
  const dropped = await db.write(function* () {
    const abandoned = yield* abandonedVersion(space.key, artifactId)
    if (abandoned === undefined) return undefined
    const seq = yield* dropUnpublished(abandoned.doc_key, abandoned.version)
    yield* ticket.end()
    return seq
  })
  if (dropped === undefined) return false
  await indexes.follow(space.id, dropped)
  return true
}

async function removeStrayNode(scan: Scan, id: string, ticket: Ticket): Promise<boolean> {
  const { context, space } = scan
  if (await context.db.read(isRead(context, space.key))) return false
  const key = await context.db.read(nodeKeyOf(space.key, id))
  return key !== undefined && (await collectStrayNodes(scan, key, key, ticket)) > 0
}

/** Removes passages without a version, from rows and indexes. @returns their count */
export async function collectStrayNodes(
  { context, space }: Scan,
  first: number,
  last: number,
  ticket: Ticket = NO_TICKET,
): Promise<number> {
  const { db, indexes } = context
  const gone = await db.write(function* () {
    const removed = yield* removeStrayNodes(space.key, first, last)
    if (removed.count > 0) yield* ticket.end()
    return removed
  })
  await indexes.follow(space.id, gone.seq)
  return gone.count
}

async function removeVectorSpace(scan: Scan, id: string, ticket: Ticket): Promise<boolean> {
  const { context, space } = scan
  const { db, lsa } = context
  if (await db.read(isRead(context, space.key))) return false
  for (;;) {
    const left = await db.write(function* () {
      const old = (yield* supersededVectorSpaces(space.key)).find((row) => row.id === id)
      if (old === undefined) return undefined
      const changes = yield* deleteVectors(old.key, VECTORS_A_TRANSACTION)
      if (changes > 0) return changes
      yield* removeSupersededModel(old.key)
      yield* ticket.end()
      return 0
    })
    if (left === undefined) return false
    if (left > 0) continue
    lsa.unload(id)
    return true
  }
}

async function removeOldTrace({ context: { db }, space, now }: Scan, id: string, ticket: Ticket): Promise<boolean> {
  return db.write(function* () {
    if (!(yield* isOldTrace(space.key, id, yield* traceCutoff(space.key, now)))) return false
    yield* removeTrace({ tenant: space.tenant, id })
    yield* ticket.end()
    return true
  })
}
