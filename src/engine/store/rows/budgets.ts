import { type Read, sql, type Write } from '../program.js'
import type { SpaceRow } from './spaces.js'

/** One counted use of a provider account on a day (`YYYY-MM-DD`, UTC). */
export interface UsageIncrement {
  tenant: string
  account: string
  day: string
  counter: string
  delta: number
}

/** Adds to counters, and removes the days of their accounts before `oldest`. @returns what was added */
export function* addUsage(increments: readonly UsageIncrement[], oldest: string): Write<readonly UsageIncrement[]> {
  for (const { tenant, account, day, counter, delta } of increments) {
    yield* sql.run('DELETE FROM provider_usage WHERE tenant = ? AND account = ? AND day < ?', [tenant, account, oldest])
    yield* sql.run(
      `INSERT INTO provider_usage (tenant, account, day, counter, used) VALUES (?, ?, ?, ?, max(0, CAST(? AS INTEGER)))
         ON CONFLICT (tenant, account, day, counter) DO UPDATE SET used = max(0, used + ?)`,
      [tenant, account, day, counter, delta, delta],
    )
  }
  return increments
}

export function* getUsage({ tenant, account, day, counter }: Omit<UsageIncrement, 'delta'>): Read<number> {
  const row = yield* sql.get<{ used: number }>(
    'SELECT used FROM provider_usage WHERE tenant = ? AND account = ? AND day = ? AND counter = ?',
    [tenant, account, day, counter],
  )
  return row?.used ?? 0
}

/** Total use of all accounts on a day, by counter. */
export function* listUsageOfDay(day: string): Read<{ counter: string; used: number }[]> {
  return yield* sql.all<{ counter: string; used: number }>(
    'SELECT counter, sum(used) used FROM provider_usage WHERE day = ? GROUP BY counter',
    [day],
  )
}

/** The spaces with the highest use on a day, with their counters. */
export function* listSpacesByUsage(day: string, limit: number): Read<(SpaceRow & { counter: string; used: number })[]> {
  return yield* sql.all<SpaceRow & { counter: string; used: number }>(
    `SELECT s.*, u.counter, u.used FROM provider_usage u JOIN spaces s ON s.tenant = u.tenant AND s.id = u.account
     WHERE u.day = ? AND s.deleted_at IS NULL ORDER BY u.used DESC LIMIT ?`,
    [day, limit],
  )
}
