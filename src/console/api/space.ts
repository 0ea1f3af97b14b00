import { useEffect } from 'react'
import type { KnowledgeSpace } from '../../contract/gateway/spaces.js'
import { navigate, pageHref, setQuery, useRoute } from '../router.js'
import { useRead } from './use.js'

const STORAGE_KEY = 'ks.space'
/** the maximum number of spaces of a tenant */
const MAX_SPACES = 1000

export interface PageSpace {
  /** the space of the page; undefined while spaces load, and if there is none */
  space: KnowledgeSpace | undefined
  spaces: readonly KnowledgeSpace[]
  isLoading: boolean
  error: unknown
  select: (slug: string) => void
}

/** All spaces of the tenant. */
export function useSpaces() {
  return useRead('GET /knowledge-spaces', { query: { limit: MAX_SPACES } })
}

/** The space of the page: the one in the URL (`?space=`), else the last used, else the first. */
export function useSpace(): PageSpace {
  const { page, rest, query } = useRoute()
  const { data, isPending, error } = useSpaces()
  const spaces = data?.items ?? []
  const requested = query.get('space') ?? sessionStorage.getItem(STORAGE_KEY)
  const space = spaces.find(({ slug, id }) => slug === requested || id === requested) ?? spaces[0]
  const slugInUrl = query.has('space') ? space?.slug : undefined
  useEffect(() => {
    if (slugInUrl !== undefined) rememberSpace(slugInUrl)
  }, [slugInUrl])
  return {
    space,
    spaces,
    isLoading: isPending,
    error,
    select: (slug) => {
      rememberSpace(slug)
      // a document or task in the URL belongs to the previous space
      if (rest.length > 0) navigate(pageHref(page, [], { space: slug }))
      else setQuery({ space: slug })
    },
  }
}

/** Remembers the space that pages show if the URL names none. */
export function rememberSpace(slug: string): void {
  sessionStorage.setItem(STORAGE_KEY, slug)
}
