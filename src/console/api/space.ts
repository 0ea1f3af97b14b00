import { useEffect } from 'react'
import type { KnowledgeSpace } from '../../contract/gateway/spaces.js'
import { navigate, pageHref, setQuery, useRoute } from '../router.js'
import { useRead } from './use.js'

const KEY = 'ks.space'
/** the maximum number of spaces of a tenant */
const ALL = { query: { limit: 1000 } }

export interface SelectedSpace {
  /** the space of the page; undefined while spaces load, and if there is none */
  space: KnowledgeSpace | undefined
  spaces: readonly KnowledgeSpace[]
  isLoading: boolean
  error: unknown
  select: (slug: string) => void
}

/** The space of the page: the one in the URL (`?space=`), else the last used, else the first. */
export function useSpace(): SelectedSpace {
  const { page, rest, query } = useRoute()
  const read = useRead('GET /knowledge-spaces', ALL)
  const spaces = read.data?.items ?? []
  const requested = query.get('space') ?? sessionStorage.getItem(KEY)
  const space = spaces.find(({ slug, id }) => slug === requested || id === requested) ?? spaces[0]
  const slugInUrl = query.has('space') ? space?.slug : undefined
  useEffect(() => {
    if (slugInUrl !== undefined) rememberSpace(slugInUrl)
  }, [slugInUrl])
  return {
    space,
    spaces,
    isLoading: read.isPending,
    error: read.error,
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
  sessionStorage.setItem(KEY, slug)
}
