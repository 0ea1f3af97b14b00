import type { TopReading, TopSpace } from './reading.js'

/** State of the view of `ks top`, and its changes by keys. */

export const SORTS = ['backlog', 'documents', 'name'] as const
export type Sort = (typeof SORTS)[number]

export interface TopState {
  /** Address of the service for the first line. */
  where: string
  intervalMs: number
  now: TopReading | undefined
  before: TopReading | undefined
  /** Start and message of an outage. */
  trouble: { since: number; message: string } | undefined
  isPaused: boolean
  isHelp: boolean
  sort: Sort
  /** Slug of the selected space, and of the only space shown. */
  selected: string | undefined
  filter: string | undefined
}

export type Key = 'up' | 'down' | 'first' | 'last' | 'filter' | 'clear' | 'sort' | 'pause' | 'help'

/** Spaces in the selected order: by backlog, number of documents, or name. */
export function sortedSpaces({ now, sort }: TopState): TopSpace[] {
  const byName = (a: TopSpace, b: TopSpace) => (a.slug < b.slug ? -1 : a.slug > b.slug ? 1 : 0)
  const spaces = [...(now?.spaces ?? [])]
  if (sort === 'name') return spaces.sort(byName)
  const of = (space: TopSpace) => (sort === 'backlog' ? space.open : (space.documents ?? 0))
  return spaces.sort((a, b) => of(b) - of(a) || byName(a, b))
}

export function pressed(state: TopState, key: Key): TopState {
  switch (key) {
    case 'pause':
      return { ...state, isPaused: !state.isPaused }
    case 'help':
      return { ...state, isHelp: !state.isHelp }
    case 'sort':
      return { ...state, sort: SORTS[(SORTS.indexOf(state.sort) + 1) % SORTS.length] ?? state.sort }
    case 'clear':
      return { ...state, filter: undefined, isHelp: false }
    case 'filter':
      return { ...state, filter: state.filter === undefined ? selectedSlug(state) : undefined }
    default:
      return { ...state, selected: moved(state, key) }
  }
}

/** The selected space; the first one if that was deleted. */
export function selectedSlug(state: TopState): string | undefined {
  const slugs = sortedSpaces(state).map(({ slug }) => slug)
  return state.selected !== undefined && slugs.includes(state.selected) ? state.selected : slugs[0]
}

function moved(state: TopState, key: 'up' | 'down' | 'first' | 'last'): string | undefined {
  const slugs = sortedSpaces(state).map(({ slug }) => slug)
  const at = slugs.indexOf(selectedSlug(state) ?? '')
  const last = slugs.length - 1
  const to = { up: Math.max(0, at - 1), down: Math.min(last, at + 1), first: 0, last }[key]
  return slugs[to]
}
