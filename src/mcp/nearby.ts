import { ApiError } from '../client/errors.js'
import { sortByNearest } from '../lib/text/nearest.js'
import type { GatewayApi } from './api.js'
import { toOneLine } from './content.js'
import { ToolError } from './failure.js'
import { describePending } from './index-state.js'
import type { ToolSpace } from './spaces.js'

/** Maximum number of folder entries to compare with a name. */
const MAX_COMPARED_ENTRIES = 1000
const MAX_SUGGESTIONS = 5

/** Runs an operation on a path; if the path does not exist, the error suggests similar names. */
export async function withPathSuggestions<T>(
  api: GatewayApi,
  space: ToolSpace,
  path: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'not-found')) throw error
    throw (await suggestPaths(api, space, path)) ?? error
  }
}

/** Builds an error with the deepest existing ancestor folder and its entries with similar names. */
async function suggestPaths(api: GatewayApi, space: ToolSpace, path: string): Promise<ToolError | undefined> {
  const parts = path.split('/').filter((part) => part !== '')
  for (let length = parts.length - 1; length > 0; length--) {
    const folder = `/${parts.slice(0, length).join('/')}`
    const query = { path: folder, limit: MAX_COMPARED_ENTRIES }
    const listed = await api
      .request('GET /knowledge-spaces/{id}/fs/ls', { path: { id: space.id }, query })
      .catch(() => undefined)
    if (listed === undefined) continue
    const missingName = parts[length] ?? ''
    const similar = sortByNearest(missingName, listed.items, ({ name }) => name)
    const message = `no path ${JSON.stringify(toOneLine(path))} in ${toOneLine(space.slug)}: ${toOneLine(folder)} contains no ${JSON.stringify(toOneLine(missingName))}`
    const paths = similar
      .slice(0, MAX_SUGGESTIONS)
      .map((item) => (item.kind === 'directory' ? `${item.path}/` : item.path))
    const next =
      paths.length === 0
        ? 'That folder is empty; use `tree` or `find` to see existing entries.'
        : 'These entries have similar names; `list` shows all.'
    return new ToolError('not-found', message, next + (await describePending(api, space.id)), paths)
  }
  return undefined
}
