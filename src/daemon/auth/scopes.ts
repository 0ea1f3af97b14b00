import { findMissingRight } from '../../contract/callers.js'
import { KsError } from '../../contract/errors.js'
import type { RouteDefinition } from '../../contract/route.js'
import type { TokenSession } from './tokens.js'

/**
 * Checks whether a token may call a route.
 * @throws KsError `scope-missing`
 */
export function assertRight(route: Pick<RouteDefinition, 'scope' | 'only'>, session: TokenSession): void {
  const missing = findMissingRight(route, { ...session, isTab: session.tab !== undefined })
  if (missing !== undefined) throw new KsError('scope-missing', missing)
}
