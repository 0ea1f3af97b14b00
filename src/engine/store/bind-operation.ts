import { asTenant } from '../base/tenant-scope.js'
import type { Driver } from './driver.js'
import type { Read } from './program.js'

/** Parameters of an operation: the first one, a caller or a session of a chat application, names the tenant. */
type OperationParameters = [member: { readonly tenant: string }, ...rest: unknown[]]

/** Makes an operation of a function whose first parameters the engine gives. It runs in the scope of its tenant. */
export function bind<Given extends unknown[], Rest extends OperationParameters, Result>(
  work: (...all: [...Given, ...Rest]) => Result,
  ...given: Given
): (...rest: Rest) => Result {
  return (...rest) => asTenant(rest[0].tenant, () => work(...given, ...rest))
}

/** Makes an operation of a program of reads. It runs in the scope of its tenant. */
export function bindRead<Rest extends OperationParameters, Result>(
  db: Driver,
  program: (...rest: Rest) => Read<Result>,
): (...rest: Rest) => Promise<Result> {
  return (...rest) => asTenant(rest[0].tenant, () => db.read(program(...rest)))
}
