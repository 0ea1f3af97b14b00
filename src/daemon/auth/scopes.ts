import { missingRight } from '../../contract/callers.js'
import { KsError } from '../../contract/errors.js'
import type { RouteDefinition } from '../../contract/route.js'
import type { Session } from './tokens.js'

/** @throws KsError `scope-missing` */
export function requireRight(route: Pick<RouteDefinition, 'scope' | 'only'>, session: Session): void {
  const missing = missingRight(route, { ...session, isTab: session.tab !== undefined })
  if (missing !== undefined) throw new KsError('scope-missing', missing)
}
