import { useSyncExternalStore } from 'react'
import { createListeners } from './api/listeners.js'

/** Location within the console: `/console/<page>/<rest>?<query>`. */
export interface ConsoleRoute {
  page: string
  /** path segments after the page, decoded */
  rest: readonly string[]
  query: URLSearchParams
}

const BASE = '/console/'
const listeners = createListeners()
addEventListener('popstate', listeners.notify)
/** the same object until the URL changes, as `useSyncExternalStore` requires */
let cached: { url: string; route: ConsoleRoute } | undefined

export function useRoute(): ConsoleRoute {
  return useSyncExternalStore(listeners.subscribe, getRoute)
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

/** Shows another page. With `replace`, its URL replaces the current entry of the history, and scrolling is kept. */
export function navigate(url: string, { replace = false } = {}): void {
  if (url === location.pathname + location.search) return
  if (replace) history.replaceState(null, '', url)
  else {
    history.pushState(null, '', url)
    scrollTo(0, 0)
  }
  listeners.notify()
}

/** Changes parameters of the current URL's query and keeps the others; undefined removes one. */
export function setQuery(changes: Record<string, string | undefined>, options?: { replace?: boolean }): void {
  const { page, rest, query } = getRoute()
  navigate(pageHref(page, rest, { ...Object.fromEntries(query), ...changes }), options)
}

function getRoute(): ConsoleRoute {
  const url = location.pathname + location.search
  if (cached?.url === url) return cached.route
  const [page = '', ...rest] = location.pathname
    .slice(BASE.length)
    .split('/')
    .filter((segment) => segment !== '')
    .map(decodeSegment)
  const route = { page, rest, query: new URLSearchParams(location.search) }
  cached = { url, route }
  return route
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
