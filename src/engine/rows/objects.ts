import { type Read, sql, type Write } from '../storage/program.js'
import { OF_THE_GONE } from './gateways.js'
import { UNACKNOWLEDGED } from './staged-commits.js'
import { namedByWorkspace } from './workspaces.js'

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
export const DEAD_REMOVAL_MS = 15_000

/** The bytes that a row is about to reference are not those that were stored: the object was removed meanwhile. */
export class ObjectGone extends Error {}

function idOf({ tenant, key }: ObjectName): [string, string] {
  return [tenant, key.slice(-SHA256_DIGITS)]
}

/**
 * SQL: whether any row references the object `wanted.key`: a document, a commit that may still become one, a file of a
 * chat or of an agent. With a time in `wanted.as_of`, rows that are being purged and commits that may be retried then
 * count, too.
 */
const NAMED = `(EXISTS (SELECT 1 FROM documents WHERE object_key = wanted.key AND (deleted_at IS NULL OR wanted.as_of IS NOT NULL))
       OR EXISTS (SELECT 1 FROM staged_commits WHERE published_object_key = wanted.key
                  AND (status IN ${UNACKNOWLEDGED} OR status = 'failed-retryable' AND expires_at >= wanted.as_of))
       OR EXISTS (SELECT 1 FROM chat_files WHERE object_key = wanted.key) OR ${namedByWorkspace('wanted.key')})`

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
    `SELECT ${NAMED} named FROM (SELECT ? key, CAST(? AS INTEGER) as_of) wanted`,
    keys.map((key) => [key, asOf ?? null]),
  )
  return rows.map((row) => row?.named === 1)
}

/** Whether rows reference an object, and whether it has a row in `objects`. */
export type Names = 'named-and-noted' | 'named' | 'noted' | 'unknown'

/** The results of `isReferenced` and `findObjectRow` for many objects of a tenant. */
export function* namesOf(tenant: string, keys: readonly string[], asOf: number): Read<Map<string, Names>> {
  const rows = yield* sql.allAsStored<{ key: string; named: number; noted: number }>(
    `SELECT wanted.key, ${NAMED} named,
       EXISTS (SELECT 1 FROM objects WHERE tenant = ? AND sha256 = substr(wanted.key, length(wanted.key) - ${SHA256_DIGITS - 1})) noted
     FROM (SELECT value key, CAST(? AS INTEGER) as_of FROM json_each(?)) wanted`,
    [tenant, asOf, JSON.stringify(keys)],
  )
  const noted = (row: { named: number; noted: number }): Names =>
    row.named === 1 ? (row.noted === 1 ? 'named-and-noted' : 'named') : row.noted === 1 ? 'noted' : 'unknown'
  return new Map(rows.map((row) => [row.key, noted(row)]))
}

export function* objectRow(name: ObjectName): Read<ObjectRow | undefined> {
  return yield* sql.get<ObjectRow>('SELECT * FROM objects WHERE tenant = ? AND sha256 = ?', idOf(name))
}

/**
 * A claim on objects before their bytes are stored: its life, and since when they may be unreferenced; null if a row
 * references them.
 */
export interface Claim {
  life: string
  now: number
  looseSince: number | null
}

/**
 * Claims objects before their bytes are stored. An object that a dead process was removing is revived.
 *
 * @returns the current life of each object; undefined for one that is being removed
 */
export function* claimObjects(
  tenant: string,
  keys: readonly string[],
  claim: Claim,
): Write<{ key: string; life: string | undefined }[]> {
  const { life, now, looseSince } = claim
  const made = yield* sql.runEach(
    `INSERT INTO objects (tenant, sha256, state, life, touched_at, loose_since) VALUES (?, ?, 'live', ?, ?, ?)
     ON CONFLICT (tenant, sha256) DO NOTHING`,
    keys.map((key) => [...idOf({ tenant, key }), life, now, looseSince]),
  )
  const there = keys.filter((_, place) => made[place] !== 1)
  const rows = yield* sql.getEach<ObjectRow>(
    'SELECT * FROM objects WHERE tenant = ? AND sha256 = ?',
    there.map((key) => idOf({ tenant, key })),
  )
  const lives = new Map<string, string | undefined>(keys.map((key) => [key, life]))
  for (const [place, key] of there.entries()) lives.set(key, yield* joinOrRevive({ tenant, key }, rows[place], claim))
  return keys.map((key) => ({ key, life: lives.get(key) }))
}

function* joinOrRevive(name: ObjectName, row: ObjectRow | undefined, claim: Claim): Write<string | undefined> {
  const { life, now, looseSince } = claim
  if (row?.state === 'live') return row.life
  if (row === undefined || row.touched_at > now - DEAD_REMOVAL_MS) return undefined
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
export function* holdObjects(tenant: string, lives: readonly [key: string, life: string][], now: number): Write<void> {
  const changes = yield* sql.runEach(
    `UPDATE objects SET touched_at = ?, loose_since = NULL
     WHERE tenant = ? AND sha256 = ? AND life = ? AND state = 'live'`,
    lives.map(([key, life]) => [now, ...idOf({ tenant, key }), life]),
  )
  const gone = lives.find((_, place) => changes[place] !== 1)
  if (gone !== undefined) throw new ObjectGone(gone[0])
}

/** The remover of objects, and the start of the removal. */
export interface Removal {
  /** new id; the objects have it as their life until the end of the removal */
  id: string
  /** the run of the removing process */
  by: string
  at: number
}

export type BegunRemoval = 'begun' | 'named' | 'busy'

/**
 * Begins removals: from here on no row can reference the objects, until their bytes and rows are removed. Removals of
 * dead processes are taken over.
 *
 * @param asOf see `isReferenced`
 */
export function* beginRemovals(
  tenant: string,
  keys: readonly string[],
  { id, by, at }: Removal,
  asOf?: number,
): Write<{ key: string; outcome: BegunRemoval }[]> {
  const areNamed = yield* areReferenced(keys, asOf)
  const free = keys.filter((_, place) => !areNamed[place])
  const changes = yield* sql.runEach(
    `INSERT INTO objects (tenant, sha256, state, life, claimed_by, touched_at, loose_since)
     VALUES (?, ?, 'deleting', ?, ?, ?, ?)
     ON CONFLICT (tenant, sha256) DO UPDATE SET state = 'deleting', life = excluded.life,
       claimed_by = excluded.claimed_by, touched_at = excluded.touched_at, loose_since = excluded.loose_since
     WHERE objects.state = 'live' OR objects.touched_at <= ?`,
    free.map((key) => [...idOf({ tenant, key }), id, by, at, at, at - DEAD_REMOVAL_MS]),
  )
  const begun = new Map(free.map((key, place) => [key, changes[place] === 1]))
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
export function* giveUpRemovals(tenant: string, keys: readonly string[], removal: string): Write<void> {
  yield* sql.runEach(
    "UPDATE objects SET state = 'live' WHERE tenant = ? AND sha256 = ? AND life = ? AND state = 'deleting'",
    keys.map((key) => [...idOf({ tenant, key }), removal]),
  )
}

/** Releases removals of lost gateways: an upload or the clean-up takes them over at once. @returns their number */
export function* freeRemovals(): Write<number> {
  return (yield* sql.run(
    `UPDATE objects SET touched_at = 0
     WHERE loose_since IS NOT NULL AND state = 'deleting' AND touched_at > 0 AND ${OF_THE_GONE}`,
  )).changes
}

/**
 * Part of a transaction that removes a reference to an object, or reports that the object cannot be removed now: the
 * clean-up will check it again.
 */
export function* loosen(tenant: string, keys: readonly string[], now: number): Write<void> {
  yield* sql.runEach(
    'UPDATE objects SET loose_since = ? WHERE tenant = ? AND sha256 = ? AND loose_since IS NULL',
    keys.map((key) => [now, ...idOf({ tenant, key })]),
  )
}

/** Objects without references: removals of processes that died, and objects unreferenced since before a time. */
export function* looseObjects(now: number, looseBefore: number, most: number): Read<ObjectRow[]> {
  return yield* sql.all<ObjectRow>(
    `SELECT * FROM objects INDEXED BY objects_loose WHERE loose_since IS NOT NULL
       AND (state = 'deleting' AND touched_at <= ? OR state = 'live' AND loose_since <= ?) LIMIT ?`,
    [now - DEAD_REMOVAL_MS, looseBefore, most],
  )
}

/** Keeps an object that a row references after all. @returns whether one does */
export function* keepNamed(name: ObjectName, row: ObjectRow): Write<boolean> {
  if (!(yield* isReferenced(name.key))) return false
  yield* sql.run(`UPDATE objects SET state = 'live', loose_since = NULL WHERE tenant = ? AND sha256 = ? AND life = ?`, [
    ...idOf(name),
    row.life,
  ])
  return true
}

/** Rows of a tenant's objects, by hash. */
export function* objectRows(tenant: string, after: string, most: number): Read<ObjectRow[]> {
  return yield* sql.allAsStored<ObjectRow>(
    'SELECT * FROM objects WHERE tenant = ? AND sha256 > ? ORDER BY sha256 LIMIT ?',
    [tenant, after, most],
  )
}

/** Inserts the missing row of an object that a row references. @returns whether it did */
export function* noteObject(name: ObjectName, life: string, now: number): Write<boolean> {
  if (!(yield* isReferenced(name.key, now))) return false
  const [claimed] = yield* claimObjects(name.tenant, [name.key], { life, now, looseSince: null })
  return claimed?.life === life
}
