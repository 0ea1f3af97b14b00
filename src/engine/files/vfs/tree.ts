import type { TreeListing, VirtualTree } from '../../../contract/gateway/fs.js'
import type { VfsNode } from './namespace.js'
import type { PagedView } from './view.js'

export const DEFAULT_TREE_DEPTH = 3

/**
 * Lists a directory and its descendants, level by level: near entries before deep ones. `limit` counts all entries
 * below the root. A directory with omitted entries is `truncated`; one at the last level has no `children`. The cursor
 * continues the root's own entries; for lower ones the client requests the directory itself.
 *
 * @param open finds the directory of an entry's path
 */
export async function listTree(
  view: PagedView,
  node: VfsNode,
  request: { limit: number; depth: number },
  open: (path: string) => Promise<VfsNode | undefined>,
): Promise<Pick<TreeListing, 'root' | 'truncated' | 'nextCursor'>> {
  const root: VirtualTree = { ...node.item }
  if (node.item.kind === 'resource') return { root, truncated: false }
  let remaining = request.limit
  const first = await node.list(view.after, remaining)
  root.children = first.entries.map(({ item }) => ({ ...item }))
  remaining -= first.entries.length
  if (first.more) root.truncated = true
  let truncated = first.more
  let level = root.children
  for (let depth = 1; depth < request.depth && level.length > 0; depth++) {
    const next: VirtualTree[] = []
    for (const directory of level.filter(({ kind }) => kind === 'directory')) {
      const page = remaining > 0 ? await (await open(directory.path))?.list(undefined, remaining) : undefined
      const isTruncated = page === undefined || page.more
      directory.children = page?.entries.map(({ item }) => ({ ...item })) ?? []
      if (isTruncated) directory.truncated = true
      truncated ||= isTruncated
      remaining -= directory.children.length
      next.push(...directory.children)
      await view.clock.yieldIfDue()
    }
    level = next
  }
  const last = first.entries[first.entries.length - 1]
  return { root, truncated, ...(first.more && last !== undefined ? { nextCursor: view.cursorAt(last.after) } : {}) }
}
