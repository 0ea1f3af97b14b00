import { type Read, sql } from '../../../store/program.js'

/** Answer traces from before a time, by id. */
export function* listOldTraces(
  spaceKey: number,
  before: number,
  after: string,
  limit: number,
): Read<{ tenant: string; id: string; bytes: number }[]> {
  return yield* sql.allAsStored<{ tenant: string; id: string; bytes: number }>(
    `SELECT tenant, id, octet_length(query) + octet_length(steps) bytes FROM traces
     WHERE space_key = ? AND created_at < ? AND id > ? ORDER BY id LIMIT ?`,
    [spaceKey, before, after, limit],
  )
}

/** Whether a trace is from before a time. */
export function* isOldTrace(spaceKey: number, id: string, before: number): Read<boolean> {
  return (
    (yield* sql.getAsStored<{ id: string }>('SELECT id FROM traces WHERE space_key = ? AND id = ? AND created_at < ?', [
      spaceKey,
      id,
      before,
    ])) !== undefined
  )
}
