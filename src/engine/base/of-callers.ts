import { asTenant } from './tenant-scope.js'

/**
 * Wraps operations so that each runs in the scope of the tenant of its first argument. Results with methods (streams,
 * uploads) run in that scope, too. An operation whose first argument names no tenant must set its scope itself.
 */
export function ofCallers<T extends object>(operations: T): T {
  return new Proxy(operations, {
    get(group, name) {
      const found: unknown = Reflect.get(group, name)
      if (typeof found === 'object' && found !== null) return ofCallers(found)
      if (typeof found !== 'function') return found
      return (...given: unknown[]) => {
        const tenant = tenantOf(given[0])
        if (tenant === undefined) return Reflect.apply(found, group, given)
        return answered(
          tenant,
          asTenant(tenant, () => Reflect.apply(found, group, given)),
        )
      }
    },
  })
}

function tenantOf(caller: unknown): string | undefined {
  if (typeof caller !== 'object' || caller === null || !('tenant' in caller)) return undefined
  return typeof caller.tenant === 'string' ? caller.tenant : undefined
}

function answered(tenant: string, answer: unknown): unknown {
  if (answer instanceof Promise) return answer.then((value: unknown) => goingOn(tenant, value))
  return goingOn(tenant, answer)
}

/** Only a value with methods runs code after it was returned; everything else is data. */
function goingOn(tenant: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !hasMethods(value)) return value
  return new Proxy(value, {
    get(target, name) {
      const found: unknown = Reflect.get(target, name)
      if (typeof found !== 'function') return found
      return (...given: unknown[]) =>
        answered(
          tenant,
          asTenant(tenant, () => Reflect.apply(found, target, given)),
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
