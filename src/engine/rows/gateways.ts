import { EXPIRES_AFTER_MS } from '../base/leases.js'
import { type Read, sql, type Write } from '../storage/program.js'

/*
 * Gateways: the engines that are open on this database. A claim names its gateway, and holds as long as that has a row
 * here. Times are those of the database's clock: clocks of machines differ.
 */

/** The clock of the database, in milliseconds, as SQL. */
export const DATABASE_NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)"
/** also of one whose beat lies ahead: the clock was set back, and nobody waits until it has come there again */
const IS_CURRENT = `beat_at BETWEEN ${DATABASE_NOW} - ${EXPIRES_AFTER_MS} AND ${DATABASE_NOW} + ${EXPIRES_AFTER_MS}`

/** Of rows that name who works at them: nobody does any more, or it was never said. */
export const OF_THE_GONE = "coalesce(claimed_by, '') NOT IN (SELECT id FROM gateways)"

/** Says that a gateway is there. @param lock that it holds, by its name */
export function* beat(id: string, lock: string | undefined): Write<void> {
  yield* sql.run(
    `INSERT INTO gateways (id, started_at, beat_at, held_lock) VALUES (?, ${DATABASE_NOW}, ${DATABASE_NOW}, ?)
     ON CONFLICT (id) DO UPDATE SET beat_at = excluded.beat_at`,
    [id, lock ?? null],
  )
}

/** Whether the last beat of a gateway is recent. */
export function* isCurrent(id: string): Read<boolean> {
  return (yield* sql.get(`SELECT 1 one FROM gateways WHERE id = ? AND ${IS_CURRENT}`, [id])) !== undefined
}

/** Whether a gateway is there, as far as anybody has noticed. */
export function* isThere(id: string): Read<boolean> {
  return (yield* sql.get('SELECT 1 one FROM gateways WHERE id = ?', [id])) !== undefined
}

/** How many gateways are there. */
export function* countGateways(): Read<number> {
  return (yield* sql.get<{ n: number }>('SELECT count(*) n FROM gateways'))?.n ?? 0
}

/** Whether others than this gateway are there. */
export function* othersThan(id: string): Read<boolean> {
  return (yield* sql.get('SELECT 1 one FROM gateways WHERE id <> ? LIMIT 1', [id])) !== undefined
}

/** Removes those that held the lock which this gateway holds now. */
export function* removeOfLock(id: string, lock: string): Write<void> {
  yield* sql.run('DELETE FROM gateways WHERE held_lock = ? AND id <> ?', [lock, id])
}

/** Removes all others that were silent for too long. */
export function* removeSilent(id: string): Write<void> {
  yield* sql.run(`DELETE FROM gateways WHERE id <> ? AND NOT (${IS_CURRENT})`, [id])
}

export function* removeGateway(id: string): Write<void> {
  yield* sql.run('DELETE FROM gateways WHERE id = ?', [id])
}
