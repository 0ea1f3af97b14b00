import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Whose rows a transaction may see on a server, which hides all others: those of one tenant, or of all for work of the
 * deployment itself. Without a scope there are none. See docs/decisions/0054-rows-behind-their-tenant.md.
 */
export type TenantScope = { readonly tenant: string } | 'deployment'

const scopes = new AsyncLocalStorage<TenantScope>()

/** Does work of one tenant. What it begins and does not wait for is of the tenant, too. */
export function asTenant<T>(tenant: string, work: () => T): T {
  return scopes.run({ tenant }, work)
}

/** Does work that looks at the rows of all tenants: `test/repo/tenant-scopes.test.ts` has the places, each with its reason. */
export function asDeployment<T>(work: () => T): T {
  return scopes.run('deployment', work)
}

export function tenantScope(): TenantScope | undefined {
  return scopes.getStore()
}
