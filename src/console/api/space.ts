import { useEffect } from 'react'
import type { KnowledgeSpace } from '../../contract/gateway/spaces.js'
import { address, go, setQuery, usePlace } from '../router.js'
import { useRead } from './use.js'

const KEY = 'ks.space'
/** as many as a tenant may have */
const ALL = { query: { limit: 1000 } }

export interface ChosenSpace {
  /** the space that the page shows; undefined while spaces are read, and where there is none */
  space: KnowledgeSpace | undefined
  spaces: readonly KnowledgeSpace[]
  isLoading: boolean
  error: unknown
  choose: (slug: string) => void
}

/** The space of the page: the one in the address (`?space=`), else the one used last, else the first. */
export function useSpace(): ChosenSpace {
  const { page, rest, query } = usePlace()
  const read = useRead('GET /knowledge-spaces', ALL)
  const spaces = read.data?.items ?? []
  const wanted = query.get('space') ?? sessionStorage.getItem(KEY)
  const space = spaces.find(({ slug, id }) => slug === wanted || id === wanted) ?? spaces[0]
  const named = query.has('space') ? space?.slug : undefined
  useEffect(() => {
    if (named !== undefined) rememberSpace(named)
  }, [named])
  return {
    space,
    spaces,
    isLoading: read.isPending,
    error: read.error,
    choose: (slug) => {
      rememberSpace(slug)
      // one document or task is of the space that it was opened in
      if (rest.length > 0) go(address(page, [], { space: slug }))
      else setQuery({ space: slug })
    },
  }
}

/** Makes a space the one that pages of spaces show. */
export function rememberSpace(slug: string): void {
  sessionStorage.setItem(KEY, slug)
}
