import type { RouteDefinition } from './route.js'

/** Scopes and roles from the claims of a token. */
export interface TokenRights {
  scopes: ReadonlySet<string>
  /** Signed by the data directory, for its own tenant, with every scope. */
  operator: boolean
  /** Belongs to the session of a console tab. */
  isTab: boolean
}

/** Credential of a request: none that is valid, a token, a key of a chat application, or a visit of its page. */
export type CallerKind =
  | { credential: 'nothing' | 'key' }
  | ({ credential: 'token' } & TokenRights)
  | { credential: 'visit'; isOwner: boolean }

const EVERY_SCOPE = 'knowledge-spaces:*'
const createTokenCaller = (scopes: readonly string[], { operator = false, isTab = false } = {}): CallerKind => ({
  credential: 'token',
  scopes: new Set(scopes),
  operator,
  isTab,
})

/**
 * Kinds of callers. `scope`, `only` and `visitors` of a route define which of them may call it; the daemon rejects the
 * others with the functions below. Admitted callers see only data of their tenant and, in sources with a permission
 * scope, of their subject; all other data is 404.
 */
export const CALLERS: Readonly<Record<string, CallerKind>> = {
  'no credential': { credential: 'nothing' },
  'token without scopes': createTokenCaller([]),
  'token with read': createTokenCaller(['knowledge-spaces:read']),
  'token with write': createTokenCaller(['knowledge-spaces:write']),
  'token with every scope': createTokenCaller([EVERY_SCOPE]),
  operator: createTokenCaller([EVERY_SCOPE], { operator: true }),
  'console tab': createTokenCaller([EVERY_SCOPE], { operator: true, isTab: true }),
  'application key': { credential: 'key' },
  'owner of the application, on its page': { credential: 'visit', isOwner: true },
  'visitor of the page': { credential: 'visit', isOwner: false },
}

type RouteAccess = Pick<RouteDefinition, 'scope' | 'only' | 'visitors'>

/** The right that a token lacks for an operation, as a sentence; undefined if none is missing. */
export function findMissingRight(
  { scope, only }: Pick<RouteAccess, 'scope' | 'only'>,
  { scopes, operator, isTab }: TokenRights,
): string | undefined {
  if (!scopes.has(EVERY_SCOPE)) {
    if (!scopes.has(`knowledge-spaces:${scope}`)) return `the token lacks the scope knowledge-spaces:${scope}`
    if (only === 'every-scope') return `the token lacks the scope ${EVERY_SCOPE}`
  }
  if ((only === 'operator' || only === 'operator-outside-tabs') && !operator)
    return 'only the operator of this daemon may do this'
  if (only === 'operator-outside-tabs' && isTab) return 'the token of a console tab may not do this: use a terminal'
  return undefined
}

/** Whether a visitor of the page of an application may call an operation of the chat service. */
export function isOpenToVisit({ visitors }: RouteAccess, { isOwner }: { isOwner: boolean }): boolean {
  return isOwner || visitors === true
}

/** The status with which an operation rejects a kind of caller before all other checks; undefined if it does not. */
export function getRejectionStatus(route: RouteAccess, caller: CallerKind): 401 | 403 | undefined {
  if (route.scope === 'public') return undefined
  if (route.scope === 'application') {
    if (caller.credential === 'visit') return isOpenToVisit(route, caller) ? undefined : 403
    return caller.credential === 'key' ? undefined : 401
  }
  if (caller.credential !== 'token') return 401
  return findMissingRight(route, caller) === undefined ? undefined : 403
}
