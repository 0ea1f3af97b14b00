import type { VirtualItem } from '../contract/gateway/fs.js'
import { sortByNearest } from '../lib/text/nearest.js'
import type { CallInput, CallResult, RouteKey } from './routes.js'

interface PathApi {
  request<K extends RouteKey>(key: K, input: CallInput<K> & object): Promise<CallResult<K>>
}

/** Where a path that does not exist ends: its deepest existing folder, and the entries there by similarity. */
export interface NearestPath {
  folder: string
  missingName: string
  similar: VirtualItem[]
}

/** Maximum number of folder entries to compare with a name. */
const MAX_COMPARED_ENTRIES = 1000

/** @returns undefined if no folder of the path can be listed */
export async function findNearestPath(api: PathApi, spaceId: string, path: string): Promise<NearestPath | undefined> {
  const parts = path.split('/').filter((part) => part !== '')
  for (let length = parts.length - 1; length > 0; length--) {
    const folder = `/${parts.slice(0, length).join('/')}`
    const query = { path: folder, limit: MAX_COMPARED_ENTRIES }
    const listed = await api
      .request('GET /knowledge-spaces/{id}/fs/ls', { path: { id: spaceId }, query })
      .catch(() => undefined)
    if (listed === undefined) continue
    const missingName = parts[length] ?? ''
    return { folder, missingName, similar: sortByNearest(missingName, listed.items, ({ name }) => name) }
  }
  return undefined
}
