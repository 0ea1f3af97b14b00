import { type Read, sql } from '../../../store/program.js'

/** The next space after a key. */
export function* findNextSpace(after: number): Read<{ key: number } | undefined> {
  return yield* sql.get<{ key: number }>(
    'SELECT key FROM spaces WHERE key > ? AND deleted_at IS NULL ORDER BY key LIMIT 1',
    [after],
  )
}
