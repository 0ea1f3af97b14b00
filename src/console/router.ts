import { useSyncExternalStore } from 'react'

/** Location within the console: `/console/<page>/<rest>?<query>`. */
export interface ConsoleRoute {
  page: string
  /** path segments after the page, decoded */
  rest: readonly string[]
  query: URLSearchParams
}

const BASE = '/console/'
const listeners = new Set<() => void>()
let cached: { address: string; place: ConsoleRoute } | undefined

export function useRoute(): ConsoleRoute {
  return useSyncExternalStore(subscribe, currentRoute)
}

/** Builds a URL: `pageHref('documents', [id], { tab: 'outline' })`. */
export function pageHref(
  page: string,
  rest: readonly string[] = [],
  query: Record<string, string | undefined> = {},
): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== '') search.set(name, value)
  const path = BASE + [page, ...rest].map(encodeURIComponent).join('/')
  return search.size === 0 ? path : `${path}?${search}`
}

/** @param replace replaces the current entry of the history instead of adding one */
export function navigate(to: string, { replace = false } = {}): void {
  if (to === location.pathname + location.search) return
  if (replace) history.replaceState(null, '', to)
  else history.pushState(null, '', to)
  if (!replace) scrollTo(0, 0)
  for (const listener of listeners) listener()
}

/** Changes parameters of the current URL's query and keeps the others. */
export function setQuery(changes: Record<string, string | undefined>, options?: { replace?: boolean }): void {
  const { page, rest, query } = currentRoute()
  navigate(pageHref(page, rest, { ...Object.fromEntries(query), ...changes }), options)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  addEventListener('popstate', listener)
  return () => {
    listeners.delete(listener)
    removeEventListener('popstate', listener)
  }
}

function currentRoute(): ConsoleRoute {
  const url = location.pathname + location.search
  if (cached?.address === url) return cached.place
  const [page = '', ...rest] = location.pathname
    .slice(BASE.length)
    .split('/')
    .filter((part) => part !== '')
    .map(decodeSegment)
  const route = { page, rest, query: new URLSearchParams(location.search) }
  cached = { address: url, place: route }
  return route
}

function decodeSegment(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
