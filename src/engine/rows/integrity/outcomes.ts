import { type Read, sql, type Write } from '../../storage/program.js'

/** A requested collection, and its idempotency key. */
export interface Collection {
  spaceKey: number
  idempotencyKey: string
  target: string
}

export type OutcomeState = 'deleting' | 'deleted'

const placeOf = ({ spaceKey, idempotencyKey, target }: Collection) => [spaceKey, idempotencyKey, target]

export function* outcomeOf(collection: Collection): Read<OutcomeState | undefined> {
  const row = yield* sql.getAsStored<{ state: OutcomeState }>(
    'SELECT state FROM gc_outcomes WHERE space_key = ? AND idempotency_key = ? AND target = ?',
    placeOf(collection),
  )
  return row?.state
}

export function* putOutcome(collection: Collection, state: OutcomeState, objectKey: string, now: number): Write<void> {
  yield* sql.run(
    'INSERT OR REPLACE INTO gc_outcomes (space_key, idempotency_key, target, state, object_key, created_at) VALUES (?, ?, ?, ?, ?, ?)',
    [...placeOf(collection), state, objectKey, now],
  )
}

export function* removeOutcome(collection: Collection): Write<void> {
  yield* sql.run(
    'DELETE FROM gc_outcomes WHERE space_key = ? AND idempotency_key = ? AND target = ?',
    placeOf(collection),
  )
}

export function* removeOutcomesBefore(time: number): Write<void> {
  yield* sql.run('DELETE FROM gc_outcomes WHERE created_at < ?', [time])
}
