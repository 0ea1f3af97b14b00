import { countFitting } from '../budget.js'
import { toOneLine } from '../content.js'
import { ToolError } from '../failure.js'
import { describeAbsenceInSpace, getIndexState } from '../index-state.js'
import { withPathSuggestions } from '../nearby.js'
import type { ToolSpace } from '../spaces.js'
import type { ToolInvocation } from '../tool.js'
import { parseUri } from '../uri.js'

/** Top folders of a space. */
export const NAMESPACES = ['sources', 'knowledge', 'evidence', 'workspaces']

/** A page of any listing operation. */
export interface ToolPage<T> {
  items: readonly T[]
  nextCursor?: string | undefined
  degradedReasons?: string[] | undefined
}

/**
 * Fetches a page, with the text to show in its place if it has no items: an incomplete index is named as a cause.
 *
 * @param absence first words of that text, such as `No match`
 */
export async function fetchPageOrExplain<T>(
  call: ToolInvocation,
  { ref, path }: FolderLocation,
  absence: string,
  fetchPage: () => Promise<ToolPage<T>>,
): Promise<{ page: ToolPage<T>; emptyText: string }> {
  const isEmpty = ({ items, nextCursor }: ToolPage<T>) => items.length === 0 && nextCursor === undefined
  const first = await withPathSuggestions(call.api, ref, path, fetchPage)
  // A page without items but with a cursor has searched a part of the folder.
  if (!isEmpty(first)) return { page: first, emptyText: `${absence} so far; the search is not complete.` }
  // Files of workspaces are not compiled: no pending job explains that one is missing.
  if (path.startsWith('/workspaces')) return { page: first, emptyText: `${absence}.` }
  const index = await getIndexState(call.api, ref.id)
  // Documents published between the first page and the index state are found now.
  const page = index.isCurrent ? await fetchPage() : first
  if (!isEmpty(page)) return { page, emptyText: '' }
  const where = NAMESPACES.includes(path.slice(1)) ? undefined : `the content of ${toOneLine(path)}`
  return {
    page,
    emptyText: await describeAbsenceInSpace(call.api, ref.id, `${absence}.`, {
      index,
      degraded: page.degradedReasons,
      where,
    }),
  }
}

/** Fetches again with a smaller limit if not all items fit, so that the cursor matches the end of the result. */
export async function fetchFittingPage<T>(
  fetchPage: (limit: number) => Promise<ToolPage<T>>,
  limits: { limit: number; maxTokens: number },
  textOf: (item: T) => string,
): Promise<ToolPage<T>> {
  const page = await fetchPage(limits.limit)
  const count = countFitting(page.items, limits.maxTokens, textOf)
  return count === page.items.length ? page : fetchPage(count)
}

interface FolderLocation {
  ref: ToolSpace
  path: string
}

export async function resolveFolder(
  call: ToolInvocation,
  text: string,
  name: string | undefined,
): Promise<FolderLocation> {
  if (!text.startsWith('ks://')) return { ref: await call.spaces.resolve(name), path: toAbsolutePath(text) }
  const address = parseUri(text)
  if (address?.path === undefined)
    throw new ToolError('invalid-request', 'the path must be a folder', 'Give a path or a ks:// address of a folder.')
  return { ref: await call.spaces.resolve(address.space), path: toAbsolutePath(address.path) }
}

function toAbsolutePath(path: string): string {
  return `/${path.replace(/^\/+|\/+$/g, '')}`
}
