import { newId } from '../../../../lib/ids.js'
import type { ModelReference } from '../../../base/model-reference.js'
import type { ProviderProblem } from '../../../base/provider-problem.js'
import { type Read, readClock, sql, type Write } from '../../program.js'
import { parseJsonCell } from '../../readable.js'
import { createWorkTable, type SpaceWork } from '../space-work.js'
import type { SpaceRow } from '../spaces.js'

/** A reading of all passages of a space for its graph. */
export interface ReadingRow extends SpaceWork {
  /** JSON of a model's reference; null: the rules alone */
  model: string | null
  state: 'reading' | 'completed' | 'budget-spent' | 'failed' | 'canceled'
  budget: number
  tokens: number
  /** last passage that the model has read */
  node_key: number
  total: number
  done: number
  asked: number
  unusable: number
}

/** number of readings of a space that are kept */
const MAX_READING_COUNT = 20

export const readingRows = createWorkTable<ReadingRow>('graph_readings', 'graph reading')

/** The most recent readings of a space, newest first. */
export function* listRecentReadings(space: SpaceRow): Read<ReadingRow[]> {
  return yield* sql.all<ReadingRow>('SELECT * FROM graph_readings WHERE space_key = ? ORDER BY key DESC LIMIT ?', [
    space.key,
    MAX_READING_COUNT,
  ])
}

/** Starts a reading, or sets the budget of the one that is running, inside the caller's transaction. */
export function* beginReading(space: SpaceRow, model: ModelReference | undefined, budget: number): Write<ReadingRow> {
  const now = yield* readClock()
  const open = yield* readingRows.findOpenOfSpace(space)
  if (open !== undefined) {
    yield* sql.run('UPDATE graph_readings SET budget = ?, next_at = 0, updated_at = ? WHERE key = ?', [
      budget,
      now,
      open.key,
    ])
    return yield* readingRows.find(space, open.id)
  }
  yield* sql.run(
    `DELETE FROM graph_readings WHERE space_key = ? AND key NOT IN
       (SELECT key FROM graph_readings WHERE space_key = ? ORDER BY key DESC LIMIT ?)`,
    [space.key, space.key, MAX_READING_COUNT - 1],
  )
  const id = newId()
  yield* sql.run(
    `INSERT INTO graph_readings (id, space_key, model, state, budget, total, created_at, updated_at)
     VALUES (?, ?, ?, 'reading', ?, coalesce((SELECT node_count FROM space_usage WHERE space_key = ?), 0), ?, ?)`,
    [id, space.key, model === undefined ? null : JSON.stringify(model), budget, space.key, now, now],
  )
  return yield* readingRows.find(space, id)
}

/** Progress of a reading since the previous report. */
export interface GraphReadingProgress {
  /** last passage that the model has read */
  place: number
  done: number
  asked: number
  unusable: number
  tokens: number
}

export function* addReadingProgress(
  key: number,
  { place, done, asked, unusable, tokens }: GraphReadingProgress,
): Write<void> {
  yield* sql.run(
    `UPDATE graph_readings SET node_key = max(node_key, ?), done = done + ?, asked = asked + ?, unusable = unusable + ?,
       tokens = tokens + ?, updated_at = ? WHERE key = ?`,
    [place, done, asked, unusable, tokens, yield* readClock(), key],
  )
}

/** Resets the retries: the model responds again. */
export function* resetReadingRetries(key: number): Write<void> {
  yield* sql.run(
    'UPDATE graph_readings SET attempts = 0, next_at = 0, error = NULL, error_class = NULL WHERE key = ? AND attempts > 0',
    [key],
  )
}

/** Sets the number of passages of a space and, after a recount, of those that were read. */
export function* setReadingCounts(key: number, { total, done }: { total: number; done?: number }): Write<void> {
  yield* sql.run(
    'UPDATE graph_readings SET total = ?, done = coalesce(?, done), updated_at = ? WHERE key = ? AND completed_at IS NULL',
    [total, done ?? null, yield* readClock(), key],
  )
}

/** Ends a reading, inside the caller's transaction; its results stay. */
export function* endReading(
  key: number,
  state: Exclude<ReadingRow['state'], 'reading'>,
  failure?: Pick<ProviderProblem, 'class' | 'message'>,
): Write<void> {
  const now = yield* readClock()
  yield* sql.run(
    `UPDATE graph_readings SET state = ?, error = ?, error_class = ?, updated_at = ?, completed_at = ?
     WHERE key = ? AND completed_at IS NULL`,
    [state, failure?.message ?? null, failure?.class ?? null, now, now, key],
  )
}

export function parseReadingModel({ model }: Pick<ReadingRow, 'model'>): ModelReference | undefined {
  return model === null ? undefined : parseJsonCell<ModelReference>(model)
}
