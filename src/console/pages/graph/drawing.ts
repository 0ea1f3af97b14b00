import type { Community } from '../../../contract/gateway/communities.js'

export interface GraphDot {
  id: string
  label: string
  kind: 'community' | 'entity'
  /** index of its community in the list; -1 for none */
  community: number
  size: number
}

export interface GraphLine {
  /** id of a dot */
  from: string
  to: string
  /** false if the entities are only mentioned together */
  isStated: boolean
  /** number of relations between two communities; such a line replaces them when zoomed out */
  relationCount?: number
}

export interface GraphDrawing {
  dots: GraphDot[]
  lines: GraphLine[]
  /** laid out by communities, each in a circle */
  isGrouped?: boolean
}

export interface CommunityMembers {
  slug: string
  entities: { id: string; name: string }[]
}

export interface SpaceGraph {
  entities: { id: string; name: string }[]
  relations: { from: string; to: string; isStated: boolean }[]
  /** whether the space has more entities or relations */
  isTruncated: boolean
}

/** Maximum distance, in relations, of an entity from the listed members of the community that it joins. */
const MAX_SPREAD_STEPS = 4

/** Id of the dot of a community. */
export const getHubId = (slug: string) => `community ${slug}`

/**
 * Builds the drawing of a space: a circle for each community with its entities around it. Entities without relations
 * and community are left out.
 */
export function buildSpaceDrawing(
  communities: readonly Community[],
  members: readonly (CommunityMembers | undefined)[],
  { entities, relations }: SpaceGraph,
): GraphDrawing {
  const names = new Map(entities.map(({ id, name }) => [id, name]))
  const communityOf = new Map<string, number>()
  for (const [index, community] of members.entries())
    for (const { id, name } of community?.entities ?? []) {
      if (!names.has(id)) names.set(id, name)
      if (!communityOf.has(id)) communityOf.set(id, index)
    }
  const lines = mergeRelations(names, relations)
  spreadCommunities(communityOf, lines)
  const degrees = new Map<string, number>()
  for (const entityId of lines.flatMap(({ from, to }) => [from, to]))
    degrees.set(entityId, (degrees.get(entityId) ?? 0) + 1)
  const counts = communities.map(() => 0)
  const dots: GraphDot[] = []
  for (const [id, label] of names) {
    const community = communityOf.get(id) ?? -1
    if (!degrees.has(id) && community === -1) continue
    if (community !== -1) counts[community] = (counts[community] ?? 0) + 1
    dots.push({ id, label, kind: 'entity', community, size: Math.min(9, 1.3 + 0.9 * Math.sqrt(degrees.get(id) ?? 0)) })
  }
  const hubs = communities.map(
    ({ slug, name, terms, entityCount }, index): GraphDot => ({
      id: getHubId(slug),
      label: terms[0] ?? name,
      kind: 'community',
      community: index,
      size: 4 + 0.55 * Math.sqrt(Math.max(entityCount, counts[index] ?? 0)),
    }),
  )
  return {
    dots: [...hubs, ...dots],
    lines: [...lines, ...buildBridges(communities, communityOf, lines)],
    isGrouped: true,
  }
}

/** Merges the relations of each pair of entities into one line. */
function mergeRelations(names: ReadonlyMap<string, string>, relations: SpaceGraph['relations']): GraphLine[] {
  const lines = new Map<string, GraphLine>()
  for (const { from, to, isStated } of relations) {
    if (from === to || !names.has(from) || !names.has(to)) continue
    const key = from < to ? `${from} ${to}` : `${to} ${from}`
    const existing = lines.get(key)
    if (existing === undefined) lines.set(key, { from, to, isStated })
    else existing.isStated ||= isStated
  }
  return [...lines.values()]
}

/** Adds each entity that no community lists to the community of most of its neighbours. */
function spreadCommunities(communityOf: Map<string, number>, lines: readonly GraphLine[]): void {
  for (let step = 0; step < MAX_SPREAD_STEPS; step++) {
    /** number of neighbours in each community, by entity */
    const neighbourCounts = new Map<string, Map<number, number>>()
    for (const { from, to } of lines)
      for (const [id, neighbourId] of [
        [from, to],
        [to, from],
      ] as const) {
        const community = communityOf.get(neighbourId)
        if (community === undefined || communityOf.has(id)) continue
        const counts = neighbourCounts.get(id) ?? new Map<number, number>()
        neighbourCounts.set(id, counts.set(community, (counts.get(community) ?? 0) + 1))
      }
    if (neighbourCounts.size === 0) return
    for (const [id, counts] of neighbourCounts) {
      const [best] = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0])
      if (best !== undefined) communityOf.set(id, best[0])
    }
  }
}

/** Builds one line per pair of related communities. */
function buildBridges(
  communities: readonly Community[],
  communityOf: ReadonlyMap<string, number>,
  lines: readonly GraphLine[],
): GraphLine[] {
  const bridges = new Map<string, GraphLine>()
  for (const { from, to } of lines) {
    const indexes = [communityOf.get(from) ?? -1, communityOf.get(to) ?? -1].sort((a, b) => a - b)
    const [first, second] = indexes.map((index) => communities[index])
    if (first === undefined || second === undefined || first === second) continue
    const key = indexes.join(' ')
    const existing = bridges.get(key)
    if (existing === undefined)
      bridges.set(key, { from: getHubId(first.slug), to: getHubId(second.slug), isStated: false, relationCount: 1 })
    else existing.relationCount = (existing.relationCount ?? 0) + 1
  }
  return [...bridges.values()]
}
