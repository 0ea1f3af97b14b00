import { KsError, notFoundError } from '../../../contract/errors.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { DegradedClass } from '../../base/degraded.js'
import type { ProviderProblem } from '../../base/provider-problem.js'
import { type Read, readClock, sql, type Write } from '../program.js'
import { hasOtherGateways, OF_LOST_GATEWAYS } from './gateways.js'
import { findSpaceByKey, type SpaceRow } from './spaces.js'

/** Common columns of rows for work on a complete space. */
export interface SpaceWork {
  key: number
  id: string
  space_key: number
  state: string
  /** the gateway that works on it */
  claimed_by: string | null
  attempts: number
  next_at: number
  error_class: DegradedClass | null
  error: string | null
  created_at: number
  updated_at: number
  completed_at: number | null
}

/** The operations on a table of such rows. @param name of one row, for messages */
export function createWorkTable<Row extends SpaceWork>(table: 'embedding_migrations' | 'graph_readings', name: string) {
  /** @throws KsError `not-found`, also for a row of another space */
  function* find(space: SpaceRow, id: string): Read<Row> {
    const row = yield* sql.get<Row>(`SELECT * FROM ${table} WHERE id = ? AND space_key = ?`, [id, space.key])
    if (row === undefined) throw notFoundError(name, id)
    return row
  }
  return {
    find,

    /** @throws KsError `already-terminal` for a row that has ended */
    *findOpen(space: SpaceRow, id: string): Read<Row> {
      const row = yield* find(space, id)
      if (row.completed_at !== null) throw new KsError('already-terminal', `${name} ${id} has ended as ${row.state}`)
      return row
    },

    /** Rows that have not ended, without those of deleted spaces and of other gateways. */
    *listOpen(gateway: string): Read<Row[]> {
      return yield* sql.all<Row>(
        `SELECT ${table}.* FROM ${table} JOIN spaces ON spaces.key = ${table}.space_key
         WHERE completed_at IS NULL AND spaces.deleted_at IS NULL AND coalesce(claimed_by, ?) = ? ORDER BY ${table}.key`,
        [gateway, gateway],
      )
    },

    /**
     * Claims a row for a gateway, until it has ended or is deferred. @returns whether no other gateway has it, and it
     * has not ended
     */
    *claim(key: number, gateway: string): Write<boolean> {
      const { changes } = yield* sql.run(
        `UPDATE ${table} SET claimed_by = ? WHERE key = ? AND completed_at IS NULL AND coalesce(claimed_by, ?) = ?`,
        [gateway, key, gateway, gateway],
      )
      return changes === 1
    },

    /** Releases the rows of lost gateways. @returns their number */
    *releaseOrphaned(): Write<number> {
      const condition = `completed_at IS NULL AND claimed_by IS NOT NULL AND ${OF_LOST_GATEWAYS}`
      return (yield* sql.run(`UPDATE ${table} SET claimed_by = NULL WHERE ${condition}`)).changes
    },

    /** The row of a space that has not ended, if there is one. */
    *findOpenOfSpace({ key }: SpaceRow): Read<Row | undefined> {
      return yield* sql.get<Row>(`SELECT * FROM ${table} WHERE space_key = ? AND completed_at IS NULL`, [key])
    },

    /** A row, unless it has ended or its space is deleted. */
    *findUnlessEnded(key: number): Read<Row | undefined> {
      const row = yield* sql.get<Row>(`SELECT * FROM ${table} WHERE key = ? AND completed_at IS NULL`, [key])
      return row === undefined || (yield* findSpaceByKey(row.space_key)) === undefined ? undefined : row
    },

    *defer(key: number, problem: ProviderProblem, nextAt: number): Write<void> {
      yield* sql.run(
        `UPDATE ${table} SET claimed_by = NULL, attempts = attempts + 1, next_at = ?, error = ?, error_class = ?, updated_at = ?
         WHERE key = ? AND completed_at IS NULL`,
        [nextAt, problem.message, problem.class, yield* readClock(), key],
      )
    },

    /**
     * Makes deferred rows due now, at the start, unless other gateways are running: the provider's problem may be
     * fixed.
     */
    *retryNow(gateway: string): Write<void> {
      if (!(yield* hasOtherGateways(gateway)))
        yield* sql.run(`UPDATE ${table} SET next_at = 0 WHERE completed_at IS NULL`)
    },
  }
}

/** Whether work waits for its provider. */
export function isWaitingForProvider({ completed_at, error }: SpaceWork): boolean {
  return completed_at === null && error !== null
}

/** The last failure and the times of work, as the API returns them. */
export function toWorkStatus(row: SpaceWork) {
  const toIsoTime = (at: number) => new Date(at).toISOString()
  return {
    ...omitUndefined({ error: row.error ?? undefined, errorClass: row.error_class ?? undefined }),
    ...(isWaitingForProvider(row) ? { nextAttemptAt: toIsoTime(row.next_at) } : {}),
    createdAt: toIsoTime(row.created_at),
    updatedAt: toIsoTime(row.updated_at),
    ...(row.completed_at === null ? {} : { completedAt: toIsoTime(row.completed_at) }),
  }
}
