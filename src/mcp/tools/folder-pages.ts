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

/** Fetches a page, with an explanation if it is empty. */
export async function fetchPageWithAbsence<T>(
  call: ToolInvocation,
  { ref, path: at }: FolderLocation,
  what: string,
  ask: () => Promise<ToolPage<T>>,
): Promise<{ page: ToolPage<T>; nothing: string }> {
  const isEmpty = ({ items, nextCursor }: ToolPage<T>) => items.length === 0 && nextCursor === undefined
  const first = await withPathSuggestions(call.api, ref, at, ask)
  if (!isEmpty(first)) return { page: first, nothing: `${what} so far; the search is not complete.` }
  if (at.startsWith('/workspaces')) return { page: first, nothing: `${what}.` }
  const index = await getIndexState(call.api, ref.id)
  // Documents published between the first page and the index state are found now.
  const page = index.isCurrent ? await ask() : first
  if (!isEmpty(page)) return { page, nothing: '' }
  const where = NAMESPACES.includes(at.slice(1)) ? undefined : `the content of ${toOneLine(at)}`
  return {
    page,
    nothing: await describeAbsenceInSpace(call.api, ref.id, `${what}.`, {
      index,
      degraded: page.degradedReasons,
      where,
    }),
  }
}

/** Fetches again with a smaller limit if not all items fit, so that the cursor matches the end of the result. */
export async function fetchFittingPage<T>(
  ask: (limit: number) => Promise<ToolPage<T>>,
  limits: { limit: number; maxTokens: number },
  textOf: (item: T) => string,
): Promise<ToolPage<T>> {
  const page = await ask(limits.limit)
  const count = countFitting(page.items, limits.maxTokens, textOf)
  return count === page.items.length ? page : ask(count)
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
  if (!text.startsWith('ks://')) return { ref: await call.spaces.named(name), path: toAbsolutePath(text) }
  const address = parseUri(text)
  if (address?.path === undefined)
    throw new ToolError('invalid-request', 'the path must be a folder', 'Give a path or a ks:// address of a folder.')
  return { ref: await call.spaces.named(address.space), path: toAbsolutePath(address.path) }
}

function toAbsolutePath(path: string): string {
  return `/${path.replace(/^\/+|\/+$/g, '')}`
}
