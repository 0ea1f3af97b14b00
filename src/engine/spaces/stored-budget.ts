import { asDeployment, asTenant } from '../base/tenant-scope.js'
import type { Account, BudgetStore } from '../models/budget.js'
import { type CountedUse, storedUse, storeUse } from '../rows/budgets.js'
import type { Driver } from '../storage/driver.js'

const KEPT_DAYS = 7

/** Increments that are not stored yet, per database: every reader includes them. */
const unstored = new WeakMap<Driver, Map<string, CountedUse>>()

/** The key of an account's use on a day; the deployment itself has no tenant. */
function counterOf({ tenant = '', id }: Account, day: string, counter: string): Omit<CountedUse, 'delta'> {
  return { tenant, account: id, day, counter }
}

/**
 * Counts use in the database, so that a day's budget survives restarts. Increments are stored after the calls, together
 * with other commits: a call does not wait for the disk twice. A crash loses the increments of its last moment.
 *
 * An increment that cannot be stored is dropped: a database that rejects it accepts no other write either.
 */
export function createBudgetStore(db: Driver): BudgetStore {
  const pending = unstored.get(db) ?? new Map<string, CountedUse>()
  unstored.set(db, pending)
  const keyOf = ({ tenant, account, day, counter }: Omit<CountedUse, 'delta'>) =>
    JSON.stringify([tenant, account, day, counter])

  const store = async (): Promise<void> => {
    const oldest = new Date(Date.now() - KEPT_DAYS * 86_400_000).toISOString().slice(0, 10)
    try {
      // everything that is counted until the write runs
      const stored = await asDeployment(() => db.write(() => storeUse([...pending.values()], oldest)))
      for (const counted of stored) {
        const key = keyOf(counted)
        const left = (pending.get(key)?.delta ?? 0) - counted.delta
        if (left === 0) pending.delete(key)
        else pending.set(key, { ...counted, delta: left })
      }
    } catch {
      pending.clear()
    }
    if (pending.size > 0) await store()
  }

  return {
    async used(account, day, counter) {
      const use = counterOf(account, day, counter)
      // read before the stored value: an increment that is stored meanwhile may count twice, but is never missing
      const counted = pending.get(keyOf(use))?.delta ?? 0
      return Math.max(0, (await asTenant(use.tenant, () => db.read(storedUse(use)))) + counted)
    },
    add(account, day, counter, delta) {
      const use = counterOf(account, day, counter)
      const key = keyOf(use)
      const isFirst = pending.size === 0
      const before = pending.get(key)?.delta ?? 0
      pending.set(key, { ...use, delta: before + Math.round(delta) })
      if (isFirst) void store()
    },
  }
}
