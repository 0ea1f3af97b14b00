import type { FsFindQuery, Listing, VirtualItem } from '../../../contract/gateway/fs.js'
import type { CursorPosition, VfsNode } from './namespace.js'
import type { PagedView } from './view.js'

/** after this time a search returns what it has found, with a cursor */
export const FIND_MILLISECONDS = 2000

type FindFilter = Pick<FsFindQuery, 'nameContains' | 'metadataKey' | 'metadataValue' | 'resourceType'>

/** Finds entries below a node that pass a filter; a resource is matched itself. */
export async function find(
  view: PagedView,
  node: VfsNode,
  request: FindFilter & { limit: number },
): Promise<Pick<Listing, 'items' | 'truncated' | 'nextCursor'>> {
  const accepts = createMatcher(request)
  const walkFilter = { resourceType: request.resourceType, namePart: request.nameContains?.toLowerCase() }
  if (node.item.kind === 'resource') return { items: [node.item].filter(accepts), truncated: false }
  const items: VirtualItem[] = []
  let last: CursorPosition | undefined
  for await (const { item, after } of node.walk(view.after, walkFilter)) {
    if (last !== undefined && view.clock.isOver) return { items, truncated: true, nextCursor: view.cursorAt(last) }
    if (item !== undefined && accepts(item)) {
      if (items.length === request.limit)
        return { items, truncated: true, ...(last === undefined ? {} : { nextCursor: view.cursorAt(last) }) }
      items.push(item)
    }
    last = after
    if (view.clock.isYieldDue) await view.clock.yieldIfDue()
  }
  return { items, truncated: false }
}

function createMatcher({
  nameContains,
  metadataKey,
  metadataValue,
  resourceType,
}: FindFilter): (item: VirtualItem) => boolean {
  const part = nameContains?.toLowerCase()
  return (item) =>
    (resourceType === undefined || item.resourceType === resourceType) &&
    (part === undefined || item.name.toLowerCase().includes(part)) &&
    hasMetadata(item.metadata, metadataKey, metadataValue)
}

/**
 * Matches top-level members: the named key must exist, and its value, or any value where no key is given, must be
 * equal.
 */
function hasMetadata(metadata: Record<string, unknown>, key: string | undefined, value: string | undefined): boolean {
  if (key !== undefined && !Object.hasOwn(metadata, key)) return false
  if (value === undefined) return true
  const candidates = key === undefined ? Object.values(metadata) : [metadata[key]]
  return candidates.some((candidate) => hasValue(candidate, value))
}

/** A list matches by its members; an object is compared as JSON. */
function hasValue(candidate: unknown, value: string): boolean {
  if (Array.isArray(candidate)) return candidate.some((member) => hasValue(member, value))
  if (typeof candidate === 'object' && candidate !== null) return JSON.stringify(candidate) === value
  return String(candidate) === value
}
