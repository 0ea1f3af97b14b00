import { KsError } from '../../contract/errors.js'
import { parsePath, type VirtualPath } from '../base/virtual-paths.js'

/**
 * Parses a path in `/workspaces`.
 *
 * @param minSegments minimum number of segments below the namespace: 1 for a workspace, 2 for a file
 * @throws KsError `invalid-request` with the violated rule
 */
export function workspacePath(text: string, name: string, least: 1 | 2): VirtualPath {
  const parsed = parsePath(text)
  if (parsed.namespace !== 'workspaces')
    throw new KsError(
      'invalid-request',
      `${name} must be in /workspaces: clients can write nowhere else, received ${shown(text)}`,
    )
  if (parsed.segments.length < least)
    throw new KsError(
      'invalid-request',
      least === 1
        ? `${name} must be in /workspaces: it must name a workspace or a path in one, received ${shown(text)}`
        : `${name} must be in /workspaces and name a file in a workspace, as /workspaces/NAME/FILE, received ${shown(text)}`,
    )
  return parsed
}

/** @throws KsError `invalid-request` unless the text is the name of a workspace, one segment of a path */
export function workspaceName(text: string): string {
  const { segments } = workspacePath(`/workspaces/${text}`, 'workspace', 1)
  const [name, ...rest] = segments
  if (name === undefined || rest.length > 0 || text.endsWith('/'))
    throw new KsError('invalid-request', `workspace must be one name without a slash, received ${shown(text)}`)
  return name
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 100))
}
