import { KsError } from '../../contract/errors.js'
import type { Session } from './tokens.js'

/** @throws KsError `scope-missing` */
export function requireScope(session: Session, scope: 'read' | 'write'): void {
  const { scopes } = session
  if (scopes.has('knowledge-spaces:*')) return
  if (scopes.has(scope === 'read' ? 'knowledge-spaces:read' : 'knowledge-spaces:write')) return
  throw new KsError('scope-missing', `the token lacks the scope knowledge-spaces:${scope}`)
}
