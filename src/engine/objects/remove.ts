import { setTimeout as sleep } from 'node:timers/promises'
import { newId } from '../../lib/ids.js'
import type { EngineContext } from '../context.js'
import {
  type BegunRemoval,
  beginRemovals,
  DEAD_REMOVAL_MS,
  endRemovals,
  giveUpRemovals,
  loosen,
  objectRow,
  type Removal,
} from '../rows/objects.js'
import { ObjectStore } from '../storage/objects.js'

/** The parts of the engine that removals need. */
export type Removing = Pick<EngineContext, 'instance' | 'db' | 'objects' | 'log'>

/** A removal, and its start by the monotonic clock of this process. */
export interface Begun extends Removal {
  since: number
}

/**
 * Number of objects per transaction; each costs a few statements and the removal of a file: some milliseconds of the
 * event loop.
 */
const AT_ONCE = 256
/** Number of parallel transactions: simultaneous ones share a commit, and the disk syncs several folders at once. */
const UNDER_WAY = 4
/**
 * A remover removes bytes within this time after the start, or not at all: after `REMOVAL_TIMEOUT_MS` others take over.
 */
const REMOVED_WITHIN_MS = DEAD_REMOVAL_MS / 3
const POLL_MS = 10

/** A removal that the caller's transaction begins. */
export function newRemoval({ instance }: Removing): Begun {
  return { id: newId(), by: instance, at: Date.now(), since: performance.now() }
}

/**
 * Removes the bytes of objects without references: a row records the removal, the bytes are removed, and then the row.
 * After a crash in between, the clean-up continues the removal, or an upload of the same bytes takes it over. An
 * invalid key is logged, and the other objects are removed.
 *
 * @param asOf see `isReferenced`
 * @returns the keys whose bytes are removed
 */
export async function removeUnreferenced(
  context: Removing,
  tenant: string,
  keys: Iterable<string>,
  asOf?: number,
): Promise<ReadonlySet<string>> {
  const gone = new Set<string>()
  const ours: string[] = []
  for (const key of new Set(keys))
    if (ObjectStore.isKeyOf(tenant, key)) ours.push(key)
    else
      context.log.error(
        { key: key.slice(0, 200) },
        'a row contains an invalid object key; nothing was removed for it',
      )
  // neighbours are in one folder, which is synced once
  ours.sort()
  const left = groupsOf(ours).values()
  const worker = async (): Promise<void> => {
    for (const group of left) for (const key of await removeSome(context, tenant, group, asOf)) gone.add(key)
  }
  const ended = await Promise.allSettled(Array.from({ length: UNDER_WAY }, worker))
  for (const one of ended) if (one.status === 'rejected') throw one.reason
  return gone
}

function groupsOf(keys: readonly string[]): string[][] {
  const groups: string[][] = []
  for (let from = 0; from < keys.length; from += AT_ONCE) groups.push(keys.slice(from, from + AT_ONCE))
  return groups
}

async function removeSome(
  context: Removing,
  tenant: string,
  keys: readonly string[],
  asOf: number | undefined,
): Promise<string[]> {
  const { db, objects } = context
  if (objects.isPinned()) {
    await db.write(() => loosen(tenant, keys, Date.now()))
    return []
  }
  const removal = newRemoval(context)
  const found = await db.write(() => beginRemovals(tenant, keys, removal, asOf))
  const having = (wanted: BegunRemoval) => found.flatMap(({ key, outcome }) => (outcome === wanted ? [key] : []))
  const gone = await finishRemoval(context, tenant, having('begun'), removal)
  for (const key of having('busy')) if (await isGoneAfterOthers(context, tenant, key)) gone.push(key)
  return gone
}

/**
 * Removes the bytes of objects whose removal is committed, and then their rows. @returns the keys of removed objects
 */
export async function finishRemoval(
  { db, objects }: Removing,
  tenant: string,
  keys: readonly string[],
  { id, at, since }: Begun,
): Promise<string[]> {
  if (keys.length === 0) return []
  const isOurs = () => Math.max(Date.now() - at, performance.now() - since) < REMOVED_WITHIN_MS
  const gone = new Set<string>()
  const inDoubt = new Set<string>()
  try {
    await objects.remove(keys, isOurs, {
      gone: (key) => gone.add(key),
      // its row stays unchanged: no row references the bytes, and a later upload or removal takes over
      inDoubt: (key) => inDoubt.add(key),
    })
  } finally {
    const left = keys.filter((key) => !gone.has(key) && !inDoubt.has(key))
    await db.write(function* () {
      yield* endRemovals(tenant, [...gone], id)
      yield* giveUpRemovals(tenant, left, id)
    })
  }
  return [...gone]
}

/** Waits for another remover. @returns whether the object is removed */
async function isGoneAfterOthers({ db, objects }: Removing, tenant: string, key: string): Promise<boolean> {
  for (const until = performance.now() + DEAD_REMOVAL_MS; performance.now() < until; await sleep(POLL_MS)) {
    const row = await db.read(objectRow({ tenant, key }))
    if (row?.state !== 'deleting') return row === undefined && (await objects.describe(key)) === undefined
  }
  return false
}
