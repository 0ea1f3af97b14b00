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
  from: string
  to: string
  isStated: boolean
  /** number of relations between two communities; such a line replaces them when zoomed out */
  relationCount?: number
}

export interface GraphDrawing {
  dots: GraphDot[]
  lines: GraphLine[]
  /** laid out by communities, each in its own circle */
  isGrouped?: boolean
}

export interface CommunityMembers {
  slug: string
  entities: { id: string; name: string }[]
}

export interface SpaceGraph {
  entities: { id: string; name: string }[]
  relations: { from: string; to: string; isStated: boolean }[]
  /** the space has more */
  isTruncated: boolean
}

/**
 * Entities that no community lists join the community of most of their neighbours, up to this distance in relations.
 */
const MAX_SPREAD_STEPS = 4

export const hubId = (slug: string) => `community ${slug}`

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
  for (const [index, one] of members.entries())
    for (const { id, name } of one?.entities ?? []) {
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
      id: hubId(slug),
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

function spreadCommunities(communityOf: Map<string, number>, lines: readonly GraphLine[]): void {
  for (let step = 0; step < MAX_SPREAD_STEPS; step++) {
    const votes = new Map<string, Map<number, number>>()
    for (const { from, to } of lines)
      for (const [one, other] of [
        [from, to],
        [to, from],
      ] as const) {
        const community = communityOf.get(other)
        if (community === undefined || communityOf.has(one)) continue
        const counts = votes.get(one) ?? new Map<number, number>()
        votes.set(one, counts.set(community, (counts.get(community) ?? 0) + 1))
      }
    if (votes.size === 0) return
    for (const [id, counts] of votes) {
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
    const [one, other] = [communityOf.get(from), communityOf.get(to)].sort((a, b) => (a ?? -1) - (b ?? -1))
    const [near, far] = [communities[one ?? -1], communities[other ?? -1]]
    if (near === undefined || far === undefined || near === far) continue
    const key = `${one} ${other}`
    const existing = bridges.get(key)
    if (existing === undefined)
      bridges.set(key, { from: hubId(near.slug), to: hubId(far.slug), isStated: false, relationCount: 1 })
    else existing.relationCount = (existing.relationCount ?? 0) + 1
  }
  return [...bridges.values()]
}
