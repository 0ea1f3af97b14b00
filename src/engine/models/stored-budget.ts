import type { Database } from '../storage/database.js'
import { sql } from '../storage/program.js'
import type { BudgetCounter, BudgetStore } from './budget.js'

const KEPT_DAYS = 7

interface Pending {
  account: string
  day: string
  counter: BudgetCounter
  delta: number
}

/** Counts that are not stored yet, of each database: whoever asks sees them all. */
const unstored = new WeakMap<Database, Map<string, Pending>>()

/**
 * Counts use in the database, so that a day's budget holds over restarts. Counts are stored behind the calls, with
 * whatever else is committed: a call does not wait for the disk twice. A crash forgets those of its last moment.
 *
 * A count that cannot be stored is dropped: a database that refuses it takes no other write either.
 */
export function createBudgetStore(db: Database): BudgetStore {
  const pending = unstored.get(db) ?? new Map<string, Pending>()
  unstored.set(db, pending)
  const keyOf = (account: string, day: string, counter: BudgetCounter) => JSON.stringify([account, day, counter])

  const store = () => {
    const oldest = new Date(Date.now() - KEPT_DAYS * 86_400_000).toISOString().slice(0, 10)
    for (const { account, day, counter, delta } of pending.values()) {
      db.now(sql.run('DELETE FROM provider_usage WHERE account = ? AND day < ?', [account, oldest]))
      db.now(
        sql.run(
          `INSERT INTO provider_usage (account, day, counter, used) VALUES (?, ?, ?, max(0, ?))
         ON CONFLICT (account, day, counter) DO UPDATE SET used = max(0, used + ?)`,
          [account, day, counter, delta, delta],
        ),
      )
    }
    pending.clear()
  }

  return {
    used(account, day, counter) {
      const row = db.now(
        sql.get<{ used: number }>('SELECT used FROM provider_usage WHERE account = ? AND day = ? AND counter = ?', [
          account,
          day,
          counter,
        ]),
      )
      return Math.max(0, (row?.used ?? 0) + (pending.get(keyOf(account, day, counter))?.delta ?? 0))
    },
    add(account, day, counter, delta) {
      const key = keyOf(account, day, counter)
      if (pending.size === 0) db.write(store).catch(() => pending.clear())
      const before = pending.get(key)?.delta ?? 0
      pending.set(key, { account, day, counter, delta: before + Math.round(delta) })
    },
  }
}
