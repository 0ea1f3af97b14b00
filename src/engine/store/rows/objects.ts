import { type Read, readClock, sql, type Write } from '../program.js'
import { OF_LOST_GATEWAYS } from './gateways.js'
import { UNACKNOWLEDGED_STATUSES } from './staged-commits.js'
import { sqlIsReferencedByWorkspace } from './workspaces.js'

/** Identifies an object: its tenant, and its key, which ends with the hash of its bytes. */
export interface ObjectName {
  tenant: string
  key: string
}

/** A row of `objects`. */
export interface ObjectRow {
  tenant: string
  sha256: string
  state: 'live' | 'deleting'
  life: string
  claimed_by: string | null
  touched_at: number
  loose_since: number | null
}

const SHA256_DIGITS = 64
/** a removal that is older belongs to a process that died: a live remover gives up much earlier */
export const REMOVAL_TIMEOUT_MS = 15_000

/** The bytes that a row is about to reference are not those that were stored: the object was removed meanwhile. */
export class ObjectRemovedError extends Error {}

function idOf({ tenant, key }: ObjectName): [string, string] {
  return [tenant, key.slice(-SHA256_DIGITS)]
}

/**
 * SQL: whether any row references the object `wanted.key`: a document, a commit that may still become one, a file of a
 * chat or of an agent. With a time in `wanted.as_of`, rows that are being purged and commits that may be retried then
 * count, too.
 */
const IS_REFERENCED = `(EXISTS (SELECT 1 FROM documents WHERE object_key = wanted.key AND (deleted_at IS NULL OR wanted.as_of IS NOT NULL))
       OR EXISTS (SELECT 1 FROM documents WHERE next_object_key = wanted.key AND (deleted_at IS NULL OR wanted.as_of IS NOT NULL))
       OR EXISTS (SELECT 1 FROM staged_commits WHERE published_object_key = wanted.key
                  AND (status IN ${UNACKNOWLEDGED_STATUSES} OR status = 'failed-retryable' AND expires_at >= wanted.as_of))
       OR EXISTS (SELECT 1 FROM chat_files WHERE object_key = wanted.key) OR ${sqlIsReferencedByWorkspace('wanted.key')})`

/**
 * Whether any row references an object: a document, a commit that may still become one, a file of a chat or of an
 * agent.
 *
 * @param asOf if given, rows that are being purged and commits that may be retried at this time count, too
 */
export function* isReferenced(key: string, asOf?: number): Read<boolean> {
  return (yield* areReferenced([key], asOf))[0] === true
}

function* areReferenced(keys: readonly string[], asOf?: number): Read<boolean[]> {
  const rows = yield* sql.getEach<{ named: number }>(
    `SELECT ${IS_REFERENCED} named FROM (SELECT ? key, CAST(? AS INTEGER) as_of) wanted`,
    keys.map((key) => [key, asOf ?? null]),
  )
  return rows.map((row) => row?.named === 1)
}

/** Whether rows reference an object, and whether it has a row in `objects`. */
export type ObjectReferenceState = 'named-and-noted' | 'named' | 'noted' | 'unknown'

/** The results of `isReferenced` and `findObjectRow` for many objects of a tenant. */
export function* classifyObjects(
  tenant: string,
  keys: readonly string[],
  asOf: number,
): Read<Map<string, ObjectReferenceState>> {
  const rows = yield* sql.allAsStored<{ key: string; named: number; noted: number }>(
    `SELECT wanted.key, ${IS_REFERENCED} named,
       EXISTS (SELECT 1 FROM objects WHERE tenant = ? AND sha256 = substr(wanted.key, length(wanted.key) - ${SHA256_DIGITS - 1})) noted
     FROM (SELECT value key, CAST(? AS INTEGER) as_of FROM json_each(?)) wanted`,
    [tenant, asOf, JSON.stringify(keys)],
  )
  const classifyRow = (row: { named: number; noted: number }): ObjectReferenceState =>
    row.named === 1 ? (row.noted === 1 ? 'named-and-noted' : 'named') : row.noted === 1 ? 'noted' : 'unknown'
  return new Map(rows.map((row) => [row.key, classifyRow(row)]))
}

export function* findObjectRow(name: ObjectName): Read<ObjectRow | undefined> {
  return yield* sql.get<ObjectRow>('SELECT * FROM objects WHERE tenant = ? AND sha256 = ?', idOf(name))
}

/**
 * A claim on objects before their bytes are stored: its life, and since when they may be unreferenced; null if a row
 * references them.
 */
export interface ObjectClaim {
  life: string
  isUnreferenced: boolean
}

/**
 * Claims objects before their bytes are stored. An object that a dead process was removing is revived.
 *
 * @returns the current life of each object; undefined for one that is being removed
 */
export function* claimObjects(
  tenant: string,
  keys: readonly string[],
  { life, isUnreferenced }: ObjectClaim,
): Write<{ key: string; life: string | undefined }[]> {
  const now = yield* readClock()
  const claim = { life, now, looseSince: isUnreferenced ? now : null }
  const inserted = yield* sql.runEach(
    `INSERT INTO objects (tenant, sha256, state, life, touched_at, loose_since) VALUES (?, ?, 'live', ?, ?, ?)
     ON CONFLICT (tenant, sha256) DO NOTHING`,
    keys.map((key) => [...idOf({ tenant, key }), life, now, claim.looseSince]),
  )
  const existing = keys.filter((_, index) => inserted[index] !== 1)
  const rows = yield* sql.getEach<ObjectRow>(
    'SELECT * FROM objects WHERE tenant = ? AND sha256 = ?',
    existing.map((key) => idOf({ tenant, key })),
  )
  const lives = new Map<string, string | undefined>(keys.map((key) => [key, life]))
  for (const [index, key] of existing.entries())
    lives.set(key, yield* joinOrRevive({ tenant, key }, rows[index], claim))
  return keys.map((key) => ({ key, life: lives.get(key) }))
}

function* joinOrRevive(
  name: ObjectName,
  row: ObjectRow | undefined,
  { life, now, looseSince }: { life: string; now: number; looseSince: number | null },
): Write<string | undefined> {
  if (row?.state === 'live') return row.life
  if (row === undefined || row.touched_at > now - REMOVAL_TIMEOUT_MS) return undefined
  const revived = yield* sql.run(
    `UPDATE objects SET state = 'live', life = ?, touched_at = ?, loose_since = ?
     WHERE tenant = ? AND sha256 = ? AND life = ?`,
    [life, now, looseSince, ...idOf(name), row.life],
  )
  return revived.changes === 1 ? life : undefined
}

/**
 * Part of the transaction that references objects. @throws ObjectRemovedError unless each object has the life with
 * which its bytes were stored
 */
export function* markReferenced(tenant: string, lives: readonly [key: string, life: string][]): Write<void> {
  const now = yield* readClock()
  const changes = yield* sql.runEach(
    `UPDATE objects SET touched_at = ?, loose_since = NULL
     WHERE tenant = ? AND sha256 = ? AND life = ? AND state = 'live'`,
    lives.map(([key, life]) => [now, ...idOf({ tenant, key }), life]),
  )
  const removed = lives.find((_, index) => changes[index] !== 1)
  if (removed !== undefined) throw new ObjectRemovedError(removed[0])
}

/** The remover of objects, and the start of the removal. */
export interface ObjectRemoval {
  /** new id; the objects have it as their life until the end of the removal */
  id: string
  /** the run of the removing process */
  remover: string
  at: number
}

export type RemovalStart = 'begun' | 'named' | 'busy'

/**
 * Begins removals: from here on no row can reference the objects, until their bytes and rows are removed. Removals of
 * dead processes are taken over.
 *
 * @param asOf see `isReferenced`
 */
export function* beginRemovals(
  tenant: string,
  keys: readonly string[],
  { id, remover, at }: ObjectRemoval,
  asOf?: number,
): Write<{ key: string; outcome: RemovalStart }[]> {
  const referenced = yield* areReferenced(keys, asOf)
  const removable = keys.filter((_, index) => !referenced[index])
  const changes = yield* sql.runEach(
    `INSERT INTO objects (tenant, sha256, state, life, claimed_by, touched_at, loose_since)
     VALUES (?, ?, 'deleting', ?, ?, ?, ?)
     ON CONFLICT (tenant, sha256) DO UPDATE SET state = 'deleting', life = excluded.life,
       claimed_by = excluded.claimed_by, touched_at = excluded.touched_at, loose_since = excluded.loose_since
     WHERE objects.state = 'live' OR objects.touched_at <= ?`,
    removable.map((key) => [...idOf({ tenant, key }), id, remover, at, at, at - REMOVAL_TIMEOUT_MS]),
  )
  const begun = new Map(removable.map((key, index) => [key, changes[index] === 1]))
  return keys.map((key) => {
    const isBegun = begun.get(key)
    return { key, outcome: isBegun === undefined ? 'named' : isBegun ? 'begun' : 'busy' }
  })
}

/** Removes the rows of objects whose bytes are removed, unless the removal was taken over. */
export function* endRemovals(tenant: string, keys: readonly string[], removal: string): Write<void> {
  yield* sql.runEach(
    "DELETE FROM objects WHERE tenant = ? AND sha256 = ? AND life = ? AND state = 'deleting'",
    keys.map((key) => [...idOf({ tenant, key }), removal]),
  )
}

/**
 * Cancels removals whose bytes could not be removed: the objects are live again, and the clean-up will check them
 * again.
 */
export function* cancelRemovals(tenant: string, keys: readonly string[], removal: string): Write<void> {
  yield* sql.runEach(
    "UPDATE objects SET state = 'live' WHERE tenant = ? AND sha256 = ? AND life = ? AND state = 'deleting'",
    keys.map((key) => [...idOf({ tenant, key }), removal]),
  )
}

/** Releases removals of lost gateways: an upload or the clean-up takes them over at once. @returns their number */
export function* releaseOrphanedRemovals(): Write<number> {
  return (yield* sql.run(
    `UPDATE objects SET touched_at = 0
     WHERE loose_since IS NOT NULL AND state = 'deleting' AND touched_at > 0 AND ${OF_LOST_GATEWAYS}`,
  )).changes
}

/**
 * Part of a transaction that removes a reference to an object, or reports that the object cannot be removed now: the
 * clean-up will check it again.
 */
export function* markUnreferenced(tenant: string, keys: readonly string[]): Write<void> {
  const now = yield* readClock()
  yield* sql.runEach(
    'UPDATE objects SET loose_since = ? WHERE tenant = ? AND sha256 = ? AND loose_since IS NULL',
    keys.map((key) => [now, ...idOf({ tenant, key })]),
  )
}

/** Objects without references: removals of processes that died, and objects unreferenced since before a time. */
export function* listUnreferencedObjects(unreferencedBefore: number, limit: number): Read<ObjectRow[]> {
  return yield* sql.all<ObjectRow>(
    `SELECT * FROM objects INDEXED BY objects_loose WHERE loose_since IS NOT NULL
       AND (state = 'deleting' AND touched_at <= ? OR state = 'live' AND loose_since <= ?) LIMIT ?`,
    [(yield* readClock()) - REMOVAL_TIMEOUT_MS, unreferencedBefore, limit],
  )
}

/** Keeps an object that a row references after all. @returns whether one does */
export function* keepReferenced(name: ObjectName, row: ObjectRow): Write<boolean> {
  if (!(yield* isReferenced(name.key))) return false
  yield* sql.run(`UPDATE objects SET state = 'live', loose_since = NULL WHERE tenant = ? AND sha256 = ? AND life = ?`, [
    ...idOf(name),
    row.life,
  ])
  return true
}

/** Rows of a tenant's objects, by hash. */
export function* listObjectRows(tenant: string, after: string, limit: number): Read<ObjectRow[]> {
  return yield* sql.allAsStored<ObjectRow>(
    'SELECT * FROM objects WHERE tenant = ? AND sha256 > ? ORDER BY sha256 LIMIT ?',
    [tenant, after, limit],
  )
}

/** Inserts the missing row of an object that a row references. @returns whether it did */
export function* insertMissingObjectRow(name: ObjectName, life: string): Write<boolean> {
  if (!(yield* isReferenced(name.key, yield* readClock()))) return false
  const [claimed] = yield* claimObjects(name.tenant, [name.key], { life, isUnreferenced: false })
  return claimed?.life === life
}
