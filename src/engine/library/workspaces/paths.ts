import { KsError } from '../../../contract/errors.js'
import { parseVirtualPath, type VirtualPath } from '../../base/virtual-paths.js'

/**
 * Parses a path in `/workspaces`.
 *
 * @param minSegments minimum number of segments below the namespace: 1 for a workspace, 2 for a file
 * @throws KsError `invalid-request` with the violated rule
 */
export function parseWorkspacePath(text: string, name: string, minSegments: 1 | 2): VirtualPath {
  const parsed = parseVirtualPath(text)
  if (parsed.namespace !== 'workspaces')
    throw new KsError(
      'invalid-request',
      `${name} must be in /workspaces: clients can write nowhere else, received ${quoteExcerpt(text)}`,
    )
  if (parsed.segments.length < minSegments)
    throw new KsError(
      'invalid-request',
      minSegments === 1
        ? `${name} must be in /workspaces: it must name a workspace or a path in one, received ${quoteExcerpt(text)}`
        : `${name} must be in /workspaces and name a file in a workspace, as /workspaces/NAME/FILE, received ${quoteExcerpt(text)}`,
    )
  return parsed
}

/** @throws KsError `invalid-request` unless the text is the name of a workspace, one segment of a path */
export function parseWorkspaceName(text: string): string {
  const { segments } = parseWorkspacePath(`/workspaces/${text}`, 'workspace', 1)
  const [name, ...rest] = segments
  if (name === undefined || rest.length > 0 || text.endsWith('/'))
    throw new KsError('invalid-request', `workspace must be one name without a slash, received ${quoteExcerpt(text)}`)
  return name
}

function quoteExcerpt(text: string): string {
  return JSON.stringify(text.slice(0, 100))
}
