import { readClock } from '../../base/statements.js'
import { asDeployment, asTenant } from '../../base/tenant-scope.js'
import type { BudgetStore, UsageAccount } from '../../models/index.js'
import type { Driver } from '../../store/driver.js'
import { addUsage, getUsage, type UsageIncrement } from '../../store/rows/budgets.js'

const RETENTION_DAYS = 7

/** Increments that are not stored yet, per database: every reader includes them. */
const pendingByDatabase = new WeakMap<Driver, Map<string, UsageIncrement>>()

/** The key of an account's use on a day; the deployment itself has no tenant. */
function toUsageKey({ tenant = '', id }: UsageAccount, day: string, counter: string): Omit<UsageIncrement, 'delta'> {
  return { tenant, account: id, day, counter }
}

/**
 * Counts use in the database, so that a day's budget survives restarts. Increments are stored after the calls, together
 * with other commits: a call does not wait for the disk twice. A crash loses the increments of its last moment.
 *
 * An increment that cannot be stored is dropped: a database that rejects it accepts no other write either.
 */
export function createBudgetStore(db: Driver): BudgetStore {
  const pending = pendingByDatabase.get(db) ?? new Map<string, UsageIncrement>()
  pendingByDatabase.set(db, pending)
  const toMapKey = ({ tenant, account, day, counter }: Omit<UsageIncrement, 'delta'>) =>
    JSON.stringify([tenant, account, day, counter])

  const store = async (): Promise<void> => {
    try {
      const stored = await asDeployment(() =>
        db.write(function* () {
          const oldest = new Date((yield* readClock()) - RETENTION_DAYS * 86_400_000).toISOString().slice(0, 10)
          // everything that is counted until the write runs
          return yield* addUsage([...pending.values()], oldest)
        }),
      )
      for (const increment of stored) {
        const key = toMapKey(increment)
        const remaining = (pending.get(key)?.delta ?? 0) - increment.delta
        if (remaining === 0) pending.delete(key)
        else pending.set(key, { ...increment, delta: remaining })
      }
    } catch {
      pending.clear()
    }
    if (pending.size > 0) await store()
  }

  return {
    async used(account, day, counter) {
      const use = toUsageKey(account, day, counter)
      // read before the stored value: an increment that is stored meanwhile may count twice, but is never missing
      const increment = pending.get(toMapKey(use))?.delta ?? 0
      return Math.max(0, (await asTenant(use.tenant, () => db.read(getUsage(use)))) + increment)
    },
    add(account, day, counter, delta) {
      const use = toUsageKey(account, day, counter)
      const key = toMapKey(use)
      const isFirst = pending.size === 0
      const previous = pending.get(key)?.delta ?? 0
      pending.set(key, { ...use, delta: previous + Math.round(delta) })
      if (isFirst) void store()
    },
  }
}
