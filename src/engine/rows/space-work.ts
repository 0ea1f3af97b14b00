import { KsError, notFound } from '../../contract/errors.js'
import { defined } from '../../lib/defined.js'
import type { DegradedClass } from '../base/degraded.js'
import type { ProviderTrouble } from '../models/trouble.js'
import type { Database } from '../storage/database.js'
import { sql } from '../storage/program.js'
import { type SpaceRow, spaceByKey } from './spaces.js'

/** What rows of work on a whole space have in common. */
export interface SpaceWork {
  key: number
  id: string
  space_key: number
  state: string
  attempts: number
  next_at: number
  error_class: DegradedClass | null
  error: string | null
  created_at: number
  updated_at: number
  completed_at: number | null
}

/** @param name of one row, for messages */
export function workTable<Row extends SpaceWork>(table: 'embedding_migrations' | 'graph_readings', name: string) {
  const find = (db: Database, space: SpaceRow, id: string): Row => {
    const row = db.now(sql.get<Row>(`SELECT * FROM ${table} WHERE id = ? AND space_key = ?`, [id, space.key]))
    if (row === undefined) throw notFound(name, id)
    return row
  }
  return {
    /** @throws KsError `not-found`, also for a row of another space */
    find,

    /** @throws KsError `already-terminal` for one that has ended */
    findOpen(db: Database, space: SpaceRow, id: string): Row {
      const row = find(db, space, id)
      if (row.completed_at !== null) throw new KsError('already-terminal', `${name} ${id} has ended as ${row.state}`)
      return row
    },

    /** Rows that have not ended, of spaces that are not being deleted. */
    open: (db: Database): Row[] =>
      db.now(
        sql.all<Row>(
          `SELECT ${table}.* FROM ${table} JOIN spaces ON spaces.key = ${table}.space_key
         WHERE completed_at IS NULL AND spaces.deleted_at IS NULL ORDER BY ${table}.key`,
        ),
      ),

    /** A row, as long as it has not ended and its space is there. */
    stillOpen(db: Database, key: number): Row | undefined {
      const row = db.now(sql.get<Row>(`SELECT * FROM ${table} WHERE key = ? AND completed_at IS NULL`, [key]))
      return row === undefined || db.now(spaceByKey(row.space_key)) === undefined ? undefined : row
    },

    delay(db: Database, key: number, trouble: ProviderTrouble, nextAt: number): void {
      db.now(
        sql.run(
          `UPDATE ${table} SET attempts = attempts + 1, next_at = ?, error = ?, error_class = ?, updated_at = ?
         WHERE key = ? AND completed_at IS NULL`,
          [nextAt, trouble.message, trouble.class, Date.now(), key],
        ),
      )
    },

    /** At the start: whatever kept a provider from answering may have been changed. */
    hurry: (db: Database) => db.recover(() => sql.run(`UPDATE ${table} SET next_at = 0 WHERE completed_at IS NULL`)),
  }
}

/** Whether work waits for its provider. */
export function isWaiting({ completed_at, error }: SpaceWork): boolean {
  return completed_at === null && error !== null
}

/** What every work on a space tells of its last failure and its times. */
export function toldOf(row: SpaceWork) {
  const time = (at: number) => new Date(at).toISOString()
  return {
    ...defined({ error: row.error ?? undefined, errorClass: row.error_class ?? undefined }),
    ...(isWaiting(row) ? { nextAttemptAt: time(row.next_at) } : {}),
    createdAt: time(row.created_at),
    updatedAt: time(row.updated_at),
    ...(row.completed_at === null ? {} : { completedAt: time(row.completed_at) }),
  }
}
