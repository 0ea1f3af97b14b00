import { type Read, sql } from '../../store/program.js'

/** Open jobs by their last durable stage. */
export function* countJobsByStage(): Read<Map<string, number>> {
  const rows = yield* sql.all<{ stage: string; n: number }>(
    'SELECT stage, count(*) n FROM jobs WHERE completed_at IS NULL GROUP BY stage',
  )
  return new Map(rows.map(({ stage, n }) => [stage, n]))
}

/** Numbers of the newest index log entries of spaces, by space id; without spaces that have no log. */
export function* listLogHeads(spaces: readonly string[]): Read<Map<string, number>> {
  const rows = yield* sql.all<{ id: string; seq: number }>(
    `SELECT spaces.id, space_counters.seq FROM spaces JOIN space_counters ON space_counters.space_key = spaces.key
     WHERE spaces.id IN (SELECT value FROM json_each(?))`,
    [JSON.stringify(spaces)],
  )
  return new Map(rows.map(({ id, seq }) => [id, seq]))
}
