import { ApiError } from '../client/errors.js'
import { nearestFirst } from '../lib/text/nearest.js'
import type { Api } from './api.js'
import { oneLine } from './content.js'
import { ToolError } from './failure.js'
import { notReadYet } from './index-state.js'
import type { SpaceRef } from './spaces.js'

/** Maximum number of folder entries to compare with a name. */
const COMPARED = 1000
const SHOWN = 5

/** Runs an operation on a path; if the path does not exist, the error suggests similar names. */
export async function atPath<T>(api: Api, space: SpaceRef, path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'not-found')) throw error
    throw (await lostPath(api, space, path)) ?? error
  }
}

/** An error with the deepest existing ancestor folder and its entries with similar names. */
async function lostPath(api: Api, space: SpaceRef, path: string): Promise<ToolError | undefined> {
  const parts = path.split('/').filter((part) => part !== '')
  for (let length = parts.length - 1; length > 0; length--) {
    const folder = `/${parts.slice(0, length).join('/')}`
    const query = { path: folder, limit: COMPARED }
    const listed = await api
      .request('GET /knowledge-spaces/{id}/fs/ls', { path: { id: space.id }, query })
      .catch(() => undefined)
    if (listed === undefined) continue
    const wanted = parts[length] ?? ''
    const near = nearestFirst(wanted, listed.items, ({ name }) => name)
    const what = `no path ${JSON.stringify(oneLine(path))} in ${oneLine(space.slug)}: ${oneLine(folder)} contains no ${JSON.stringify(oneLine(wanted))}`
    const paths = near.slice(0, SHOWN).map((item) => (item.kind === 'directory' ? `${item.path}/` : item.path))
    const next =
      paths.length === 0
        ? 'That folder is empty; use `tree` or `find` to see existing entries.'
        : 'These entries have similar names; `list` shows all.'
    return new ToolError('not-found', what, next + (await notReadYet(api, space.id)), paths)
  }
  return undefined
}
