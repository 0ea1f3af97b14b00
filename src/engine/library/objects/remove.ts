import { setTimeout as sleep } from 'node:timers/promises'
import { newId } from '../../../lib/ids.js'
import { ObjectStore } from '../../store/objects.js'
import {
  beginRemovals,
  cancelRemovals,
  endRemovals,
  findObjectRow,
  markUnreferenced,
  type ObjectRemoval,
  REMOVAL_TIMEOUT_MS,
  type RemovalStart,
} from '../../store/rows/objects.js'
import type { EngineContext } from '../context.js'

/** The parts of the engine that removals need. */
export type RemovalContext = Pick<EngineContext, 'instance' | 'db' | 'objects' | 'log' | 'now'>

/** A removal, and its start by the monotonic clock of this process. */
export interface RunningRemoval extends ObjectRemoval {
  since: number
}

/**
 * Number of objects per transaction; each costs a few statements and the removal of a file: some milliseconds of the
 * event loop.
 */
const BATCH_SIZE = 256
/** Number of parallel transactions: simultaneous ones share a commit, and the disk syncs several folders at once. */
const MAX_PARALLEL_BATCHES = 4
/**
 * A remover removes bytes within this time after the start, or not at all: after `REMOVAL_TIMEOUT_MS` others take over.
 */
const REMOVAL_DEADLINE_MS = REMOVAL_TIMEOUT_MS / 3
const POLL_MS = 10

/** A removal that the caller's transaction begins. */
export function createRemoval({ instance, now }: RemovalContext): RunningRemoval {
  return { id: newId(), remover: instance, at: now(), since: performance.now() }
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
  context: RemovalContext,
  tenant: string,
  keys: Iterable<string>,
  asOf?: number,
): Promise<ReadonlySet<string>> {
  const removedKeys = new Set<string>()
  const ownKeys: string[] = []
  for (const key of new Set(keys))
    if (ObjectStore.isKeyOf(tenant, key)) ownKeys.push(key)
    else
      context.log.error({ key: key.slice(0, 200) }, 'a row contains an invalid object key; nothing was removed for it')
  // neighbours are in one folder, which is synced once
  ownKeys.sort()
  const groups = splitIntoGroups(ownKeys).values()
  const worker = async (): Promise<void> => {
    for (const group of groups) for (const key of await removeGroup(context, tenant, group, asOf)) removedKeys.add(key)
  }
  const results = await Promise.allSettled(Array.from({ length: MAX_PARALLEL_BATCHES }, worker))
  for (const result of results) if (result.status === 'rejected') throw result.reason
  return removedKeys
}

function splitIntoGroups(keys: readonly string[]): string[][] {
  const groups: string[][] = []
  for (let start = 0; start < keys.length; start += BATCH_SIZE) groups.push(keys.slice(start, start + BATCH_SIZE))
  return groups
}

async function removeGroup(
  context: RemovalContext,
  tenant: string,
  keys: readonly string[],
  asOf: number | undefined,
): Promise<string[]> {
  const { db, objects } = context
  if (objects.isPinned()) {
    await db.write(() => markUnreferenced(tenant, keys))
    return []
  }
  const removal = createRemoval(context)
  const started = await db.write(() => beginRemovals(tenant, keys, removal, asOf))
  const keysWith = (expected: RemovalStart) =>
    started.flatMap(({ key, outcome }) => (outcome === expected ? [key] : []))
  const removedKeys = await finishRemoval(context, tenant, keysWith('begun'), removal)
  for (const key of keysWith('busy')) if (await waitForConcurrentRemoval(context, tenant, key)) removedKeys.push(key)
  return removedKeys
}

/**
 * Removes the bytes of objects whose removal is committed, and then their rows. @returns the keys of removed objects
 */
export async function finishRemoval(
  { db, objects, now }: RemovalContext,
  tenant: string,
  keys: readonly string[],
  { id, at, since }: RunningRemoval,
): Promise<string[]> {
  if (keys.length === 0) return []
  const isOurs = () => Math.max(now() - at, performance.now() - since) < REMOVAL_DEADLINE_MS
  const removedKeys = new Set<string>()
  const uncertainKeys = new Set<string>()
  try {
    await objects.remove(keys, isOurs, {
      onRemoved: (key) => removedKeys.add(key),
      // its row stays unchanged: no row references the bytes, and a later upload or removal takes over
      onUncertain: (key) => uncertainKeys.add(key),
    })
  } finally {
    const remaining = keys.filter((key) => !removedKeys.has(key) && !uncertainKeys.has(key))
    await db.write(function* () {
      yield* endRemovals(tenant, [...removedKeys], id)
      yield* cancelRemovals(tenant, remaining, id)
    })
  }
  return [...removedKeys]
}

/** Waits for another remover. @returns whether the object is removed */
async function waitForConcurrentRemoval(
  { db, objects }: RemovalContext,
  tenant: string,
  key: string,
): Promise<boolean> {
  for (const deadline = performance.now() + REMOVAL_TIMEOUT_MS; performance.now() < deadline; await sleep(POLL_MS)) {
    const row = await db.read(findObjectRow({ tenant, key }))
    if (row?.state !== 'deleting') return row === undefined && (await objects.describe(key)) === undefined
  }
  return false
}
