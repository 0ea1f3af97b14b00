import { LEASE_LIFETIME_MS } from '../../base/leases.js'
import { type Read, sql, type Write } from '../program.js'

/*
 * Gateways: the engines that are open on this database. A claim names its gateway, and is valid as long as the gateway
 * has a row here. Times are those of the database's clock: clocks of machines differ.
 */

/** The clock of the database, in milliseconds, as SQL. */
export const DATABASE_NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)"
/** also false for a heartbeat in the future: the clock was set back, and waiting for that time would take too long */
const IS_ALIVE = `beat_at BETWEEN ${DATABASE_NOW} - ${LEASE_LIFETIME_MS} AND ${DATABASE_NOW} + ${LEASE_LIFETIME_MS}`

/** SQL: rows with `claimed_by` whose gateway is lost, or that have none. */
export const OF_LOST_GATEWAYS = "coalesce(claimed_by, '') NOT IN (SELECT id FROM gateways)"

/** Records a heartbeat of a gateway. @param lock name of the lock that it holds */
export function* recordHeartbeat(id: string, lock: string | undefined): Write<void> {
  yield* sql.run(
    `INSERT INTO gateways (id, started_at, beat_at, held_lock) VALUES (?, ${DATABASE_NOW}, ${DATABASE_NOW}, ?)
     ON CONFLICT (id) DO UPDATE SET beat_at = excluded.beat_at`,
    [id, lock ?? null],
  )
}

/** Whether the last heartbeat of a gateway is recent. */
export function* isGatewayAlive(id: string): Read<boolean> {
  return yield* sql.exists(`SELECT 1 one FROM gateways WHERE id = ? AND ${IS_ALIVE}`, [id])
}

/** Whether a gateway has a row: no other gateway has noticed its end. */
export function* isGatewayRegistered(id: string): Read<boolean> {
  return yield* sql.exists('SELECT 1 one FROM gateways WHERE id = ?', [id])
}

/** Number of registered gateways. */
export function* countGateways(): Read<number> {
  return yield* sql.count('SELECT count(*) n FROM gateways')
}

/** Whether other gateways are registered. */
export function* hasOtherGateways(id: string): Read<boolean> {
  return yield* sql.exists('SELECT 1 one FROM gateways WHERE id <> ? LIMIT 1', [id])
}

/** Removes earlier holders of the lock that this gateway holds now. */
export function* removeEarlierLockHolders(id: string, lock: string): Write<void> {
  yield* sql.run('DELETE FROM gateways WHERE held_lock = ? AND id <> ?', [lock, id])
}

/** Removes all other gateways without a recent heartbeat. */
export function* removeLostGateways(id: string): Write<void> {
  yield* sql.run(`DELETE FROM gateways WHERE id <> ? AND NOT (${IS_ALIVE})`, [id])
}

export function* removeGateway(id: string): Write<void> {
  yield* sql.run('DELETE FROM gateways WHERE id = ?', [id])
}
