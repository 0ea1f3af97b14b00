import type { TreeListing, VirtualTree } from '../../contract/gateway/fs.js'
import type { Place } from './namespace.js'
import type { PagedView } from './view.js'

export const DEFAULT_DEPTH = 3

/**
 * Lists a directory and its descendants, level by level: near entries before deep ones. `limit` counts all entries
 * below the root. A directory with omitted entries is `truncated`; one at the last level has no `children`. The cursor
 * continues the root's own entries; for lower ones the client requests the directory itself.
 *
 * @param open finds the directory of an entry's path
 */
export async function tree(
  view: PagedView,
  place: Place,
  request: { limit: number; depth: number },
  open: (path: string) => Promise<Place | undefined>,
): Promise<Pick<TreeListing, 'root' | 'truncated' | 'nextCursor'>> {
  const root: VirtualTree = { ...place.item }
  if (place.item.kind === 'resource') return { root, truncated: false }
  let left = request.limit
  const first = await place.list(view.after, left)
  root.children = first.entries.map(({ item }) => ({ ...item }))
  left -= first.entries.length
  if (first.more) root.truncated = true
  let truncated = first.more
  let level = root.children
  for (let depth = 1; depth < request.depth && level.length > 0; depth++) {
    const next: VirtualTree[] = []
    for (const directory of level.filter(({ kind }) => kind === 'directory')) {
      const page = left > 0 ? await (await open(directory.path))?.list(undefined, left) : undefined
      const cut = page === undefined || page.more
      directory.children = page?.entries.map(({ item }) => ({ ...item })) ?? []
      if (cut) directory.truncated = true
      truncated ||= cut
      left -= directory.children.length
      next.push(...directory.children)
      await view.clock.turn()
    }
    level = next
  }
  const last = first.entries[first.entries.length - 1]
  return { root, truncated, ...(first.more && last !== undefined ? { nextCursor: view.cursorAt(last.after) } : {}) }
}
