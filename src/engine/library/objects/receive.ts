import { setTimeout as sleep } from 'node:timers/promises'
import { KsError } from '../../../contract/errors.js'
import { newId } from '../../../lib/ids.js'
import type { StagedObject } from '../../store/objects.js'
import type { Write } from '../../store/program.js'
import { claimObjects, markReferenced, ObjectRemovedError, REMOVAL_TIMEOUT_MS } from '../../store/rows/objects.js'
import type { EngineContext } from '../context.js'

/** The parts of the engine that receiving bytes needs. */
export type ReceivingContext = Pick<EngineContext, 'db' | 'objects'> & {
  foregroundPriority?: Pick<EngineContext['foregroundPriority'], 'yieldToQueries'>
}

/** Received bytes, and the key that they get. */
export interface IncomingObject {
  staged: StagedObject
  key: string
}

interface ObjectReception<B, T> {
  tenant: string
  incoming: readonly IncomingObject[]
  /** inserts the rows that protect the objects while their bytes are stored */
  begin(): Write<B>
  /** `begin` inserts no rows: after a crash the clean-up removes the objects */
  isUnreferenced?: true
  /**
   * commits the rows that reference the objects, with `held` in the same transaction
   *
   * @param lives of the objects by their keys, for a later `markReferenced`
   */
  commit(held: () => Write<void>, made: B, lives: ReadonlyMap<string, string>): Promise<T>
}

/** number of files that are made durable together */
const SYNC_BATCH_SIZE = 32
const POLL_MS = 5
/** An upload that waits longer than this for removals of its bytes is rejected; the client may retry. */
const MAX_WAIT_MS = 4 * REMOVAL_TIMEOUT_MS

/**
 * Stores received bytes under their keys and commits the rows that reference them. If the same bytes are just being
 * removed, by this process or another, it waits for the removal and stores them again; also if they are removed before
 * the commit.
 *
 * @throws KsError `unavailable` if the same bytes were removed repeatedly
 */
export async function storeObjects<B, T>(
  context: ReceivingContext,
  { tenant, incoming, begin, isUnreferenced, commit }: ObjectReception<B, T>,
): Promise<T> {
  const { objects } = context
  const deadline = performance.now() + MAX_WAIT_MS
  const claiming = { tenant, incoming, until: deadline, isUnreferenced: isUnreferenced === true }
  let isCommitted = false
  try {
    const claimed = await claim(context, claiming, begin)
    const { made } = claimed
    let { claims } = claimed
    for (;;) {
      await storeBytes(context, incoming)
      try {
        const committed = await commit(() => markAllReferenced(tenant, claims), made, claims)
        isCommitted = true
        return committed
      } catch (error) {
        if (!(error instanceof ObjectRemovedError)) throw error
      }
      await waitForRemoval(deadline)
      claims = (await claim(context, claiming, writeNothing)).claims
    }
  } finally {
    // small objects have been moved to their key, and leave nothing to discard
    const toDiscard = isCommitted ? incoming.filter(({ staged }) => staged.bytes === undefined) : incoming
    await Promise.all(toDiscard.map(({ staged }) => objects.discard(staged.id)))
  }
}

/** The life with which each object was stored, by key. */
type ObjectLives = ReadonlyMap<string, string>

interface ClaimedObjects<B> {
  made: B
  claims: ObjectLives
}

/** For objects that no row references before their bytes are stored. */
export function* writeNothing(): Write<void> {}

interface ObjectClaimRequest {
  tenant: string
  incoming: readonly IncomingObject[]
  until: number
  isUnreferenced: boolean
}

/** Claims objects before their bytes are stored; waits for running removals of the same objects. */
async function claim<B>(
  { db }: ReceivingContext,
  claiming: ObjectClaimRequest,
  begin: () => Write<B>,
): Promise<ClaimedObjects<B>> {
  const { tenant, incoming, until: deadline, isUnreferenced } = claiming
  // in the same order for all callers, so that two claims of the same objects cannot deadlock
  const keys = [...new Set(incoming.map(({ key }) => key))].sort()
  const opened = await db.write(function* () {
    return { made: yield* begin(), lives: yield* claimAll(tenant, keys, isUnreferenced) }
  })
  const claims = new Map(opened.lives)
  while (claims.size < keys.length) {
    await waitForRemoval(deadline)
    const missing = keys.filter((key) => !claims.has(key))
    for (const [key, life] of await db.write(() => claimAll(tenant, missing, isUnreferenced))) claims.set(key, life)
  }
  return { made: opened.made, claims }
}

async function waitForRemoval(deadline: number): Promise<void> {
  if (performance.now() > deadline)
    throw new KsError('unavailable', 'the same bytes are being removed repeatedly: send them again')
  await sleep(POLL_MS)
}

function* claimAll(tenant: string, keys: readonly string[], isUnreferenced: boolean): Write<[string, string][]> {
  const claimed = yield* claimObjects(tenant, keys, { life: newId(), isUnreferenced })
  return claimed.flatMap(({ key, life }): [string, string][] => (life === undefined ? [] : [[key, life]]))
}

function* markAllReferenced(tenant: string, claims: ObjectLives): Write<void> {
  yield* markReferenced(
    tenant,
    [...claims].sort(([a], [b]) => (a < b ? -1 : 1)),
  )
}

/** Makes bytes durable, then their names. */
async function storeBytes(
  { objects, foregroundPriority }: ReceivingContext,
  incoming: readonly IncomingObject[],
): Promise<void> {
  for (let start = 0; start < incoming.length; start += SYNC_BATCH_SIZE) {
    await foregroundPriority?.yieldToQueries()
    await objects.syncStaged(incoming.slice(start, start + SYNC_BATCH_SIZE).map(({ staged }) => staged))
  }
  await foregroundPriority?.yieldToQueries()
  await objects.publish([...incoming], async () => foregroundPriority?.yieldToQueries())
  await foregroundPriority?.yieldToQueries()
}
