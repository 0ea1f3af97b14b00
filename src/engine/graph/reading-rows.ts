import { notFound } from '../../contract/errors.js'
import type { GraphReading } from '../../contract/gateway/graph-readings.js'
import { LIMITS } from '../../contract/limits.js'
import { newId } from '../../lib/ids.js'
import type { DegradedClass } from '../degraded.js'
import type { ProviderTrouble } from '../models/trouble.js'
import type { ModelReference } from '../models/types.js'
import { type SpaceRow, spaceByKey } from '../spaces/store.js'
import type { Database } from '../storage/database.js'
import { fromCell } from '../storage/readable.js'

/** A reading of a whole space for its graph. */
export interface ReadingRow {
  key: number
  id: string
  space_key: number
  /** JSON: a model's reference; null: the rules alone */
  model: string | null
  state: 'reading' | 'completed' | 'budget-spent' | 'failed' | 'canceled'
  budget: number
  tokens: number
  /** passage up to which the model has come */
  node_key: number
  total: number
  done: number
  asked: number
  unusable: number
  attempts: number
  next_at: number
  error_class: DegradedClass | null
  error: string | null
  created_at: number
  updated_at: number
  completed_at: number | null
}

/** Readings of a space that are kept. */
const KEPT = 20

/** Readings that have not ended, of spaces that are not being deleted. */
export function openReadings(db: Database): ReadingRow[] {
  return db.all<ReadingRow>(
    `SELECT graph_readings.* FROM graph_readings JOIN spaces ON spaces.key = graph_readings.space_key
     WHERE completed_at IS NULL AND spaces.deleted_at IS NULL ORDER BY graph_readings.key`,
  )
}

/** @throws KsError `not-found`, also for a reading of another space */
export function readingOf(db: Database, space: SpaceRow, id: string): ReadingRow {
  const row = db.get<ReadingRow>('SELECT * FROM graph_readings WHERE id = ? AND space_key = ?', id, space.key)
  if (row === undefined) throw notFound('graph reading', id)
  return row
}

/** The last readings of a space, newest first. */
export function lastReadings(db: Database, space: SpaceRow): ReadingRow[] {
  return db.all<ReadingRow>(
    'SELECT * FROM graph_readings WHERE space_key = ? ORDER BY key DESC LIMIT ?',
    ...[space.key, KEPT],
  )
}

/** The reading, as long as it has not ended and its space is there. */
export function stillReading(db: Database, key: number): ReadingRow | undefined {
  const row = db.get<ReadingRow>('SELECT * FROM graph_readings WHERE key = ? AND completed_at IS NULL', key)
  return row === undefined || spaceByKey(db, row.space_key) === undefined ? undefined : row
}

/** Begins a reading, or gives the one that is under way another budget, inside the caller's transaction. */
export function beginReading(
  db: Database,
  space: SpaceRow,
  model: ModelReference | undefined,
  budget: number,
): ReadingRow {
  const now = Date.now()
  const open = db.get<ReadingRow>(
    'SELECT * FROM graph_readings WHERE space_key = ? AND completed_at IS NULL',
    space.key,
  )
  if (open !== undefined) {
    db.run('UPDATE graph_readings SET budget = ?, next_at = 0, updated_at = ? WHERE key = ?', budget, now, open.key)
    return readingOf(db, space, open.id)
  }
  db.run(
    `DELETE FROM graph_readings WHERE space_key = ? AND key NOT IN
       (SELECT key FROM graph_readings WHERE space_key = ? ORDER BY key DESC LIMIT ?)`,
    ...[space.key, space.key, KEPT - 1],
  )
  const id = newId()
  db.run(
    `INSERT INTO graph_readings (id, space_key, model, state, budget, total, created_at, updated_at)
     VALUES (?, ?, ?, 'reading', ?, coalesce((SELECT node_count FROM space_usage WHERE space_key = ?), 0), ?, ?)`,
    ...[id, space.key, model === undefined ? null : JSON.stringify(model), budget, space.key, now, now],
  )
  return readingOf(db, space, id)
}

/** What a reading has come to, added to what it had. */
export interface Progress {
  /** passage up to which the model has come */
  place: number
  done: number
  asked: number
  unusable: number
  tokens: number
}

export function noteProgress(db: Database, key: number, { place, done, asked, unusable, tokens }: Progress): void {
  db.run(
    `UPDATE graph_readings SET node_key = max(node_key, ?), done = done + ?, asked = asked + ?, unusable = unusable + ?,
       tokens = tokens + ?, updated_at = ? WHERE key = ?`,
    ...[place, done, asked, unusable, tokens, Date.now(), key],
  )
}

/** Its model answers again. */
export function noteAnswer(db: Database, key: number): void {
  db.run(
    'UPDATE graph_readings SET attempts = 0, next_at = 0, error = NULL, error_class = NULL WHERE key = ? AND attempts > 0',
    key,
  )
}

/** How many passages a space has, and how many of them were read where that was counted anew. */
export function noteCounts(db: Database, key: number, { total, done }: { total: number; done?: number }): void {
  db.run(
    'UPDATE graph_readings SET total = ?, done = coalesce(?, done), updated_at = ? WHERE key = ? AND completed_at IS NULL',
    ...[total, done ?? null, Date.now(), key],
  )
}

export function delayReading(db: Database, key: number, trouble: ProviderTrouble, nextAt: number): void {
  db.run(
    `UPDATE graph_readings SET attempts = attempts + 1, next_at = ?, error = ?, error_class = ?, updated_at = ?
     WHERE key = ? AND completed_at IS NULL`,
    ...[nextAt, trouble.message, trouble.class, Date.now(), key],
  )
}

/** Ends a reading, inside the caller's transaction; what was read stays. */
export function endReading(
  db: Database,
  key: number,
  state: Exclude<ReadingRow['state'], 'reading'>,
  why?: Pick<ProviderTrouble, 'class' | 'message'>,
): void {
  const now = Date.now()
  db.run(
    `UPDATE graph_readings SET state = ?, error = ?, error_class = ?, updated_at = ?, completed_at = ?
     WHERE key = ? AND completed_at IS NULL`,
    ...[state, why?.message ?? null, why?.class ?? null, now, now, key],
  )
}

export function modelOf({ model }: Pick<ReadingRow, 'model'>): ModelReference | undefined {
  return model === null ? undefined : fromCell<ModelReference>(model)
}

export function toReading(space: SpaceRow, row: ReadingRow): GraphReading {
  const waits = row.state === 'reading' && row.error !== null
  const model = modelOf(row)
  const message = messageOf(row)
  return {
    id: row.id,
    knowledgeSpaceId: space.id,
    state: waits ? 'waiting' : row.state,
    ...(model === undefined ? {} : { model }),
    passages: Math.max(row.total, row.done),
    passagesRead: row.done,
    passagesAsked: row.asked,
    passagesUnusable: row.unusable,
    budgetTokens: row.budget,
    usedTokens: row.tokens,
    ...(message === undefined ? {} : { message }),
    ...(row.error === null ? {} : { error: row.error }),
    ...(row.error_class === null ? {} : { errorClass: row.error_class }),
    ...(waits ? { nextAttemptAt: new Date(row.next_at).toISOString() } : {}),
    createdAt: new Date(row.created_at).toISOString(),
    updatedAt: new Date(row.updated_at).toISOString(),
    ...(row.completed_at === null ? {} : { completedAt: new Date(row.completed_at).toISOString() }),
  }
}

/** How to go on with what has ended early. */
function messageOf({ state, budget, tokens, done, total, asked }: ReadingRow): string | undefined {
  if (state !== 'budget-spent') return undefined
  const left = Math.max(0, total - done)
  const cost = asked === 0 ? budget : Math.ceil((tokens / asked) * left)
  const wanted = Math.min(LIMITS.graphReadingTokens.max, roundedUp(Math.max(cost, LIMITS.graphReadingTokens.min)))
  return `The budget of ${budget} tokens is spent, with ${done} of ${total} passages read. Begin again to go on there: the rest takes about ${wanted} tokens.`
}

/** To two digits. */
function roundedUp(value: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(value)) - 1)
  return Math.ceil(value / unit) * unit
}
