import type { TopReading, TopSpace } from './reading.js'

/** State of the view of `ks top`, and its changes by keys. */

export const TOP_SORTS = ['backlog', 'documents', 'name'] as const
export type TopSort = (typeof TOP_SORTS)[number]

export interface TopState {
  /** Address of the service for the first line. */
  serviceName: string
  intervalMs: number
  current: TopReading | undefined
  previous: TopReading | undefined
  /** Start, in milliseconds since the epoch, and message of an outage. */
  outage: { since: number; message: string } | undefined
  isPaused: boolean
  isHelp: boolean
  sort: TopSort
  /** Slug of the selected space. */
  selected: string | undefined
  /** Slug of the only space that is shown; undefined for all. */
  filter: string | undefined
}

export type TopKey = 'up' | 'down' | 'first' | 'last' | 'filter' | 'clear' | 'sort' | 'pause' | 'help'

/** Spaces in the selected order: by backlog, number of documents, or name. */
export function sortSpaces({ current, sort }: TopState): TopSpace[] {
  const byName = (a: TopSpace, b: TopSpace) => (a.slug < b.slug ? -1 : a.slug > b.slug ? 1 : 0)
  const spaces = [...(current?.spaces ?? [])]
  if (sort === 'name') return spaces.sort(byName)
  const getRank = (space: TopSpace) => (sort === 'backlog' ? space.open : (space.documents ?? 0))
  return spaces.sort((a, b) => getRank(b) - getRank(a) || byName(a, b))
}

export function applyKey(state: TopState, key: TopKey): TopState {
  switch (key) {
    case 'pause':
      return { ...state, isPaused: !state.isPaused }
    case 'help':
      return { ...state, isHelp: !state.isHelp }
    case 'sort':
      return { ...state, sort: TOP_SORTS[(TOP_SORTS.indexOf(state.sort) + 1) % TOP_SORTS.length] ?? state.sort }
    case 'clear':
      return { ...state, filter: undefined, isHelp: false }
    case 'filter':
      return { ...state, filter: state.filter === undefined ? getSelectedSlug(state) : undefined }
    default:
      return { ...state, selected: moveSelection(state, key) }
  }
}

/** The selected space; the first one if that was deleted. */
export function getSelectedSlug(state: TopState): string | undefined {
  const slugs = sortSpaces(state).map(({ slug }) => slug)
  return state.selected !== undefined && slugs.includes(state.selected) ? state.selected : slugs[0]
}

function moveSelection(state: TopState, key: 'up' | 'down' | 'first' | 'last'): string | undefined {
  const slugs = sortSpaces(state).map(({ slug }) => slug)
  const index = slugs.indexOf(getSelectedSlug(state) ?? '')
  const last = slugs.length - 1
  const target = { up: Math.max(0, index - 1), down: Math.min(last, index + 1), first: 0, last }[key]
  return slugs[target]
}
