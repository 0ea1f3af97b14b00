import { asTenant } from './tenant-scope.js'

/**
 * Wraps operations so that each runs in the scope of the tenant of its first argument. Results with methods (streams,
 * uploads) run in that scope, too. An operation whose first argument names no tenant must set its scope itself.
 */
export function bindTenantScope<T extends object>(operations: T): T {
  return new Proxy(operations, {
    get(group, name) {
      const member: unknown = Reflect.get(group, name)
      if (typeof member === 'object' && member !== null) return bindTenantScope(member)
      if (typeof member !== 'function') return member
      return (...args: unknown[]) => {
        const tenant = tenantOf(args[0])
        if (tenant === undefined) return Reflect.apply(member, group, args)
        return wrapResult(
          tenant,
          asTenant(tenant, () => Reflect.apply(member, group, args)),
        )
      }
    },
  })
}

function tenantOf(caller: unknown): string | undefined {
  if (typeof caller !== 'object' || caller === null || !('tenant' in caller)) return undefined
  return typeof caller.tenant === 'string' ? caller.tenant : undefined
}

function wrapResult(tenant: string, result: unknown): unknown {
  if (result instanceof Promise) return result.then((value: unknown) => wrapLiveResult(tenant, value))
  return wrapLiveResult(tenant, result)
}

/** Only a value with methods runs code after it was returned; everything else is data. */
function wrapLiveResult(tenant: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !hasMethods(value)) return value
  return new Proxy(value, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return (...args: unknown[]) =>
        wrapResult(
          tenant,
          asTenant(tenant, () => Reflect.apply(member, target, args)),
        )
    },
  })
}

/** Iterators are recognized by their own methods: the methods of a generator are in its prototype. */
function hasMethods(value: object): boolean {
  return (
    Symbol.asyncIterator in value ||
    ('next' in value && 'throw' in value && !(Symbol.iterator in value)) ||
    Object.values(value).some((one) => typeof one === 'function')
  )
}
