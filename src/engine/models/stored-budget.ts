import type { Database } from '../storage/database.js'
import type { BudgetStore } from './budget.js'

const KEPT_DAYS = 7

/** Counts use in the database, so that a day's budget holds over restarts. */
export function createBudgetStore(db: Database): BudgetStore {
  return {
    used(account, day, counter) {
      const row = db.get<{ used: number }>(
        'SELECT used FROM provider_usage WHERE account = ? AND day = ? AND counter = ?',
        ...[account, day, counter],
      )
      return row?.used ?? 0
    },
    add(account, day, counter, delta) {
      db.writeNow(() => {
        const oldest = new Date(Date.now() - KEPT_DAYS * 86_400_000).toISOString().slice(0, 10)
        db.run('DELETE FROM provider_usage WHERE account = ? AND day < ?', account, oldest)
        db.run(
          `INSERT INTO provider_usage (account, day, counter, used) VALUES (?, ?, ?, max(0, ?))
           ON CONFLICT (account, day, counter) DO UPDATE SET used = max(0, used + ?)`,
          ...[account, day, counter, Math.round(delta), Math.round(delta)],
        )
      })
    },
  }
}
