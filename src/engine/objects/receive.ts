import { setTimeout as sleep } from 'node:timers/promises'
import { KsError } from '../../contract/errors.js'
import { newId } from '../../lib/ids.js'
import type { EngineContext } from '../context.js'
import { claimObjects, DEAD_REMOVAL_MS, holdObjects, ObjectGone } from '../rows/objects.js'
import type { StagedObject } from '../storage/objects.js'
import type { Write } from '../storage/program.js'

/** The parts of the engine that receiving bytes needs. */
export type Receiving = Pick<EngineContext, 'db' | 'objects'> & {
  rightOfWay?: Pick<EngineContext['rightOfWay'], 'yieldToQueries'>
}

/** Received bytes, and the key that they get. */
export interface Incoming {
  staged: StagedObject
  key: string
}

interface Reception<B, T> {
  tenant: string
  incoming: readonly Incoming[]
  /** inserts the rows that protect the objects while their bytes are stored */
  begin(): Write<B>
  /** `begin` inserts no rows: after a crash the clean-up removes the objects */
  isLoose?: true
  /**
   * commits the rows that reference the objects, with `held` in the same transaction
   *
   * @param lives of the objects by their keys, for a later `markReferenced`
   */
  commit(held: () => Write<void>, made: B, lives: ReadonlyMap<string, string>): Promise<T>
}

/** number of files that are made durable together */
const SYNCED_AT_ONCE = 32
const POLL_MS = 5
/** An upload that waits longer than this for removals of its bytes is rejected; the client may retry. */
const PATIENCE_MS = 4 * DEAD_REMOVAL_MS

/**
 * Stores received bytes under their keys and commits the rows that reference them. If the same bytes are just being
 * removed, by this process or another, it waits for the removal and stores them again; also if they are removed before
 * the commit.
 *
 * @throws KsError `unavailable` if the same bytes were removed repeatedly
 */
export async function keepObjects<B, T>(
  context: Receiving,
  { tenant, incoming, begin, isLoose, commit }: Reception<B, T>,
): Promise<T> {
  const { objects } = context
  const until = performance.now() + PATIENCE_MS
  const claiming = { tenant, incoming, until, looseSince: isLoose === true ? Date.now() : null }
  let isKept = false
  try {
    const claimed = await claim(context, claiming, begin)
    const { made } = claimed
    let { claims } = claimed
    for (;;) {
      await put(context, incoming)
      try {
        const committed = await commit(() => holdAll(tenant, claims), made, claims)
        isKept = true
        return committed
      } catch (error) {
        if (!(error instanceof ObjectGone)) throw error
      }
      await patience(until)
      claims = (await claim(context, claiming, nothing)).claims
    }
  } finally {
    // small objects have been moved to their key, and leave nothing to discard
    const left = isKept ? incoming.filter(({ staged }) => staged.bytes === undefined) : incoming
    await Promise.all(left.map(({ staged }) => objects.discard(staged.id)))
  }
}

/** The life with which each object was stored, by key. */
type Claims = ReadonlyMap<string, string>

interface Claimed<B> {
  made: B
  claims: Claims
}
function* nothing(): Write<void> {}

interface Claiming {
  tenant: string
  incoming: readonly Incoming[]
  until: number
  /** since when the objects may be unreferenced */
  looseSince: number | null
}

/** Claims objects before their bytes are stored; waits for running removals of the same objects. */
async function claim<B>({ db }: Receiving, claiming: Claiming, begin: () => Write<B>): Promise<Claimed<B>> {
  const { tenant, incoming, until, looseSince } = claiming
  // in the same order for all callers, so that two claims of the same objects cannot deadlock
  const keys = [...new Set(incoming.map(({ key }) => key))].sort()
  const opened = await db.write(function* () {
    return { made: yield* begin(), lives: yield* claimAll(tenant, keys, looseSince) }
  })
  const claims = new Map(opened.lives)
  while (claims.size < keys.length) {
    await patience(until)
    const left = keys.filter((key) => !claims.has(key))
    for (const [key, life] of await db.write(() => claimAll(tenant, left, looseSince))) claims.set(key, life)
  }
  return { made: opened.made, claims }
}

async function patience(until: number): Promise<void> {
  if (performance.now() > until)
    throw new KsError('unavailable', 'the same bytes are being removed repeatedly: send them again')
  await sleep(POLL_MS)
}

function* claimAll(tenant: string, keys: readonly string[], looseSince: number | null): Write<[string, string][]> {
  const claimed = yield* claimObjects(tenant, keys, { life: newId(), now: Date.now(), looseSince })
  return claimed.flatMap(({ key, life }): [string, string][] => (life === undefined ? [] : [[key, life]]))
}

function* holdAll(tenant: string, claims: Claims): Write<void> {
  yield* holdObjects(
    tenant,
    [...claims].sort(([a], [b]) => (a < b ? -1 : 1)),
    Date.now(),
  )
}

/** Makes bytes durable, then their names. */
async function put({ objects, rightOfWay }: Receiving, incoming: readonly Incoming[]): Promise<void> {
  for (let from = 0; from < incoming.length; from += SYNCED_AT_ONCE) {
    await rightOfWay?.giveWay()
    await objects.syncStaged(incoming.slice(from, from + SYNCED_AT_ONCE).map(({ staged }) => staged))
  }
  await rightOfWay?.giveWay()
  await objects.publish([...incoming], async () => rightOfWay?.giveWay())
  await rightOfWay?.giveWay()
}
