import { type Read, readClock, sql, type Write } from '../../store/program.js'

/** A row of `watches` with its space. */
export interface WatchRow {
  id: string
  space_id: string
  folder: string
  rules: string
  created_at: number
}

const SELECT_WATCH = `SELECT watches.id, spaces.id space_id, folder, rules, watches.created_at FROM watches
  JOIN spaces ON spaces.key = watches.space_key AND spaces.deleted_at IS NULL`

/** Watches of one tenant, or of all. */
export function* listWatchRows(tenant?: string): Read<WatchRow[]> {
  return tenant === undefined
    ? yield* sql.all<WatchRow>(`${SELECT_WATCH} ORDER BY watches.id`)
    : yield* sql.all<WatchRow>(`${SELECT_WATCH} WHERE watches.tenant = ? ORDER BY watches.id`, [tenant])
}

/** Inserts a watch of a folder, or replaces the rules of the existing one. */
export function* upsertWatch(watch: {
  id: string
  tenant: string
  spaceKey: number
  folder: string
  rules: object
}): Write<WatchRow | undefined> {
  const { id, tenant, spaceKey, folder, rules } = watch
  yield* sql.run(
    `INSERT INTO watches (id, tenant, space_key, folder, rules, created_at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (tenant, space_key, folder) DO UPDATE SET rules = excluded.rules`,
    [id, tenant, spaceKey, folder, JSON.stringify(rules), yield* readClock()],
  )
  return yield* sql.get<WatchRow>(`${SELECT_WATCH} WHERE watches.tenant = ? AND watches.space_key = ? AND folder = ?`, [
    tenant,
    spaceKey,
    folder,
  ])
}

/** @returns whether it existed */
export function* deleteWatch(tenant: string, id: string): Write<boolean> {
  return (yield* sql.run('DELETE FROM watches WHERE tenant = ? AND id = ?', [tenant, id])).changes > 0
}
