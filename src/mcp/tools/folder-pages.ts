import { countFitting } from '../budget.js'
import { toOneLine } from '../content.js'
import { ToolError } from '../failure.js'
import { describeAbsenceInSpace, getIndexState } from '../index-state.js'
import { withPathSuggestions } from '../nearby.js'
import type { SessionAccess, ToolSpace } from '../spaces.js'
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
  { api }: SessionAccess,
  { space, path }: FolderLocation,
  absence: string,
  fetchPage: () => Promise<ToolPage<T>>,
): Promise<{ page: ToolPage<T>; emptyText: string }> {
  const isEmpty = ({ items, nextCursor }: ToolPage<T>) => items.length === 0 && nextCursor === undefined
  const first = await withPathSuggestions(api, space, path, fetchPage)
  // A page without items but with a cursor has searched a part of the folder.
  if (!isEmpty(first)) return { page: first, emptyText: `${absence} so far; the search is not complete.` }
  // Files of workspaces are not compiled: no pending job explains that one is missing.
  if (path.startsWith('/workspaces')) return { page: first, emptyText: `${absence}.` }
  const index = await getIndexState(api, space.id)
  // Documents published between the first page and the index state are found now.
  const page = index.isCurrent ? await fetchPage() : first
  if (!isEmpty(page)) return { page, emptyText: '' }
  const searched = NAMESPACES.includes(path.slice(1)) ? undefined : `the content of ${toOneLine(path)}`
  return {
    page,
    emptyText: await describeAbsenceInSpace(api, space.id, `${absence}.`, {
      index,
      degraded: page.degradedReasons,
      searched,
    }),
  }
}

/**
 * Fetches a page whose items fit: again with a smaller limit if not all do, so that the cursor matches the end of the
 * result.
 */
export async function fetchFittingPage<T>(
  fetchPage: (limit: number) => Promise<ToolPage<T>>,
  limits: { limit: number; maxTokens: number },
  getText: (item: T) => string,
): Promise<ToolPage<T>> {
  const page = await fetchPage(limits.limit)
  const count = countFitting(page.items, limits.maxTokens, getText)
  return count === page.items.length ? page : fetchPage(count)
}

export interface FolderLocation {
  space: ToolSpace
  path: string
}

/** Resolves a path, in the space with `spaceName`, or a ks:// address. @throws ToolError for that of a document */
export async function resolveFolder(
  { spaces }: SessionAccess,
  reference: string,
  spaceName: string | undefined,
): Promise<FolderLocation> {
  if (!reference.startsWith('ks://')) return { space: await spaces.resolve(spaceName), path: toAbsolutePath(reference) }
  const address = parseUri(reference)
  if (address?.path === undefined)
    throw new ToolError('invalid-request', 'the path must be a folder', 'Give a path or a ks:// address of a folder.')
  return { space: await spaces.resolve(address.space), path: toAbsolutePath(address.path) }
}

function toAbsolutePath(path: string): string {
  return `/${path.replace(/^\/+|\/+$/g, '')}`
}
