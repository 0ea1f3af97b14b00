import { type Read, sql, type Write } from '../../../store/program.js'

/** A requested collection, and its idempotency key. */
export interface CollectionRequest {
  spaceKey: number
  idempotencyKey: string
  target: string
}

export type CollectionState = 'deleting' | 'deleted'

const toKeyCells = ({ spaceKey, idempotencyKey, target }: CollectionRequest) => [spaceKey, idempotencyKey, target]

export function* findCollectionState(collection: CollectionRequest): Read<CollectionState | undefined> {
  const row = yield* sql.getAsStored<{ state: CollectionState }>(
    'SELECT state FROM gc_outcomes WHERE space_key = ? AND idempotency_key = ? AND target = ?',
    toKeyCells(collection),
  )
  return row?.state
}

export function* setCollectionState(
  collection: CollectionRequest,
  state: CollectionState,
  objectKey: string,
  now: number,
): Write<void> {
  yield* sql.run(
    'INSERT OR REPLACE INTO gc_outcomes (space_key, idempotency_key, target, state, object_key, created_at) VALUES (?, ?, ?, ?, ?, ?)',
    [...toKeyCells(collection), state, objectKey, now],
  )
}

export function* removeCollectionState(collection: CollectionRequest): Write<void> {
  yield* sql.run(
    'DELETE FROM gc_outcomes WHERE space_key = ? AND idempotency_key = ? AND target = ?',
    toKeyCells(collection),
  )
}

export function* removeCollectionStatesBefore(time: number): Write<void> {
  yield* sql.run('DELETE FROM gc_outcomes WHERE created_at < ?', [time])
}
