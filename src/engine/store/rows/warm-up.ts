import { type Read, sql } from '../program.js'

/** Whether nothing was ever indexed in this store. */
export function* isIndexLogEmpty(): Read<boolean> {
  return !(yield* sql.exists('SELECT 1 one FROM projection_log LIMIT 1'))
}

/** The most recently published space; undefined if nothing was ever indexed. */
export function* findLastPublishedSpace(): Read<{ id: string } | undefined> {
  if (yield* isIndexLogEmpty()) return undefined
  return yield* sql.get<{ id: string }>(
    'SELECT id FROM spaces WHERE deleted_at IS NULL ORDER BY published_at DESC LIMIT 1',
  )
}
