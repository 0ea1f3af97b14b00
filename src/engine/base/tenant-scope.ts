import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * The rows that a transaction may see on a database server, which hides all others: those of one tenant, or all rows
 * for work of the deployment itself. Without a scope no row is visible. See
 * docs/decisions/0054-rows-behind-their-tenant.md.
 */
export type TenantScope = { readonly tenant: string } | 'deployment'

const scopes = new AsyncLocalStorage<TenantScope>()

/** Runs work in the scope of one tenant. Work that it starts without waiting keeps the scope. */
export function asTenant<T>(tenant: string, work: () => T): T {
  return scopes.run({ tenant }, work)
}

/** Makes a stream whose pieces are generated in the scope of one tenant, for any reader. */
export async function* streamAsTenant<T>(tenant: string, pieces: () => AsyncIterable<T>): AsyncGenerator<T> {
  const iterator = asTenant(tenant, () => pieces()[Symbol.asyncIterator]())
  try {
    for (;;) {
      const next = await asTenant(tenant, () => iterator.next())
      if (next.done === true) return
      yield next.value
    }
  } finally {
    await asTenant(tenant, () => iterator.return?.())
  }
}

/**
 * Runs work that may see the rows of all tenants: `test/repo/tenant-scopes.test.ts` lists all callers with their
 * reasons.
 */
export function asDeployment<T>(work: () => T): T {
  return scopes.run('deployment', work)
}

export function getTenantScope(): TenantScope | undefined {
  return scopes.getStore()
}
