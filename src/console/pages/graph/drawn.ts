import type { Community } from '../../../contract/gateway/communities.js'

export interface Dot {
  id: string
  label: string
  kind: 'community' | 'entity'
  /** index of its community in the list; -1 for none */
  community: number
  size: number
}

export interface DrawnLine {
  from: string
  to: string
  isStated: boolean
  /** number of relations between two communities; such a line replaces them when zoomed out */
  bridges?: number
}

export interface Drawn {
  dots: Dot[]
  lines: DrawnLine[]
  /** laid out by communities, each in its own circle */
  isGrouped?: boolean
}

export interface Members {
  slug: string
  entities: { id: string; name: string }[]
}

export interface WholeGraph {
  entities: { id: string; name: string }[]
  relations: { from: string; to: string; isStated: boolean }[]
  /** the space has more */
  isCut: boolean
}

/**
 * Entities that no community lists join the community of most of their neighbours, up to this distance in relations.
 */
const STEPS = 4

export const hubOf = (slug: string) => `community ${slug}`

/**
 * Builds the drawing of a space: a circle for each community with its entities around it. Entities without relations
 * and community are left out.
 */
export function drawnOf(
  communities: readonly Community[],
  members: readonly (Members | undefined)[],
  { entities, relations }: WholeGraph,
): Drawn {
  const names = new Map(entities.map(({ id, name }) => [id, name]))
  const communityOf = new Map<string, number>()
  for (const [at, one] of members.entries())
    for (const { id, name } of one?.entities ?? []) {
      if (!names.has(id)) names.set(id, name)
      if (!communityOf.has(id)) communityOf.set(id, at)
    }
  const lines = joined(names, relations)
  spread(communityOf, lines)
  const degrees = new Map<string, number>()
  for (const end of lines.flatMap(({ from, to }) => [from, to])) degrees.set(end, (degrees.get(end) ?? 0) + 1)
  const counts = communities.map(() => 0)
  const dots: Dot[] = []
  for (const [id, label] of names) {
    const community = communityOf.get(id) ?? -1
    if (!degrees.has(id) && community === -1) continue
    if (community !== -1) counts[community] = (counts[community] ?? 0) + 1
    dots.push({ id, label, kind: 'entity', community, size: Math.min(9, 1.3 + 0.9 * Math.sqrt(degrees.get(id) ?? 0)) })
  }
  const hubs = communities.map(
    ({ slug, name, terms, entityCount }, at): Dot => ({
      id: hubOf(slug),
      label: terms[0] ?? name,
      kind: 'community',
      community: at,
      size: 4 + 0.55 * Math.sqrt(Math.max(entityCount, counts[at] ?? 0)),
    }),
  )
  return { dots: [...hubs, ...dots], lines: [...lines, ...bridgesOf(communities, communityOf, lines)], isGrouped: true }
}

/** Merges the relations of each pair of entities into one line. */
function joined(names: ReadonlyMap<string, string>, relations: WholeGraph['relations']): DrawnLine[] {
  const lines = new Map<string, DrawnLine>()
  for (const { from, to, isStated } of relations) {
    if (from === to || !names.has(from) || !names.has(to)) continue
    const key = from < to ? `${from} ${to}` : `${to} ${from}`
    const known = lines.get(key)
    if (known === undefined) lines.set(key, { from, to, isStated })
    else known.isStated ||= isStated
  }
  return [...lines.values()]
}

function spread(communityOf: Map<string, number>, lines: readonly DrawnLine[]): void {
  for (let step = 0; step < STEPS; step++) {
    const votes = new Map<string, Map<number, number>>()
    for (const { from, to } of lines)
      for (const [one, other] of [
        [from, to],
        [to, from],
      ] as const) {
        const community = communityOf.get(other)
        if (community === undefined || communityOf.has(one)) continue
        const own = votes.get(one) ?? new Map<number, number>()
        votes.set(one, own.set(community, (own.get(community) ?? 0) + 1))
      }
    if (votes.size === 0) return
    for (const [id, own] of votes) {
      const [best] = [...own].sort((a, b) => b[1] - a[1] || a[0] - b[0])
      if (best !== undefined) communityOf.set(id, best[0])
    }
  }
}

/** Builds one line per pair of related communities. */
function bridgesOf(
  communities: readonly Community[],
  communityOf: ReadonlyMap<string, number>,
  lines: readonly DrawnLine[],
): DrawnLine[] {
  const bridges = new Map<string, DrawnLine>()
  for (const { from, to } of lines) {
    const [one, other] = [communityOf.get(from), communityOf.get(to)].sort((a, b) => (a ?? -1) - (b ?? -1))
    const [near, far] = [communities[one ?? -1], communities[other ?? -1]]
    if (near === undefined || far === undefined || near === far) continue
    const key = `${one} ${other}`
    const known = bridges.get(key)
    if (known === undefined)
      bridges.set(key, { from: hubOf(near.slug), to: hubOf(far.slug), isStated: false, bridges: 1 })
    else known.bridges = (known.bridges ?? 0) + 1
  }
  return [...bridges.values()]
}
