import { asTenant } from './tenant-scope.js'

/**
 * The same operations, each at work for the tenant of its first argument, and so is what it answers with that goes on:
 * frames, uploads. One whose first argument is nobody's says itself whose rows it looks at.
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

/** What has methods goes on when it has been handed over; all else is data. */
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

/** Iterators are found by their own method: those of a generator stand in its prototype. */
function hasMethods(value: object): boolean {
  return (
    Symbol.asyncIterator in value ||
    ('next' in value && 'throw' in value && !(Symbol.iterator in value)) ||
    Object.values(value).some((one) => typeof one === 'function')
  )
}
