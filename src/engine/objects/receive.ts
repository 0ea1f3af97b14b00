import { setTimeout as sleep } from 'node:timers/promises'
import { KsError } from '../../contract/errors.js'
import { newId } from '../../lib/ids.js'
import type { EngineContext } from '../context.js'
import { claimObjects, DEAD_REMOVAL_MS, holdObjects, ObjectGone } from '../rows/objects.js'
import type { StagedObject } from '../storage/objects.js'
import type { Write } from '../storage/program.js'

/** What receiving bytes needs of the engine. */
export type Receiving = Pick<EngineContext, 'db' | 'objects'> & {
  rightOfWay?: Pick<EngineContext['rightOfWay'], 'giveWay'>
}

/** Bytes that were received, and the key that they get. */
export interface Incoming {
  staged: StagedObject
  key: string
}

interface Reception<B, T> {
  tenant: string
  incoming: readonly Incoming[]
  /** writes the rows that hold the objects while their bytes get their names */
  begin(): Write<B>
  /** `begin` writes none: what a crash leaves is removed by the clean-up */
  isLoose?: true
  /**
   * commits the rows that name the objects, with `held` in the same transaction
   *
   * @param lives of the objects by their keys, for who names them later with `holdObjects`
   */
  commit(held: () => Write<void>, made: B, lives: ReadonlyMap<string, string>): Promise<T>
}

/** files whose bytes are made durable together */
const SYNCED_AT_ONCE = 32
const POLL_MS = 5
/** An upload that waits longer than this for removals of its bytes is refused; the sender tries again. */
const PATIENCE_MS = 4 * DEAD_REMOVAL_MS

/**
 * Gives received bytes their names and commits the rows that name them. Where the same bytes are just being removed, by
 * this process or another, it waits until they are gone and puts them again; where they went before the commit, too.
 *
 * @throws KsError `unavailable` where the same bytes were removed again and again
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
    // what was small has its name, and nothing is left of it
    const left = isKept ? incoming.filter(({ staged }) => staged.bytes === undefined) : incoming
    await Promise.all(left.map(({ staged }) => objects.discard(staged.id)))
  }
}

/** The life of each object in which its bytes come. */
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
  /** since when no row may hold the objects */
  looseSince: number | null
}

/** Says that bytes are coming; waits where the same ones are going. */
async function claim<B>({ db }: Receiving, claiming: Claiming, begin: () => Write<B>): Promise<Claimed<B>> {
  const { tenant, incoming, until, looseSince } = claiming
  // in one order by all, so that of two who claim the same nobody waits for the other
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
    throw new KsError('unavailable', 'the same bytes are being removed again and again: send them once more')
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
