import { ApiError } from '../client/errors.js'
import { findNearestPath } from '../client/nearest-path.js'
import type { GatewayApi } from './api.js'
import { toOneLine } from './content.js'
import { ToolError } from './failure.js'
import { describePending } from './index-state.js'
import type { ToolSpace } from './spaces.js'

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
  const nearest = await findNearestPath(api, space.id, path)
  if (nearest === undefined) return undefined
  const { folder, missingName, similar } = nearest
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
