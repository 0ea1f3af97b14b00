import { type QueryClient, queryOptions } from '@tanstack/react-query'
import pLimit from 'p-limit'
import type { Community } from '../../../contract/gateway/communities.js'
import type { GraphTraversal } from '../../../contract/gateway/graph.js'
import { call } from '../../api/client.js'

/** communities that are drawn with their members; the others are one circle each */
export const DETAILED = 24
/** a community lists its best connected members */
const MEMBERS = 100
const AT_ONCE = 4
const TRAVERSAL = { depth: 2, fanout: 50, maxNodes: 200, timeoutMs: 2000 }

export interface Dot {
  id: string
  label: string
  kind: 'community' | 'entity'
  /** place of its community in the list; -1 for none */
  community: number
  size: number
}

export interface Drawn {
  dots: Dot[]
  lines: { from: string; to: string; isStated: boolean; isHidden: boolean }[]
}

export interface Members {
  slug: string
  entities: { id: string; name: string }[]
  relations: GraphTraversal['relations']
}

const limited = pLimit(AT_ONCE)

/** The members of a community, and what relates them: what two steps from its best connected entity lead to. */
export function membersOf(client: QueryClient, spaceId: string, { slug, terms }: Community, generatedVersion: string) {
  return queryOptions<Members>({
    queryKey: ['graph-members', spaceId, slug, generatedVersion],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) =>
      limited(async () => {
        const path = { id: spaceId }
        const folder = `/knowledge/communities/${slug}/entities`
        const { items } = await call(
          'GET /knowledge-spaces/{id}/fs/ls',
          { path, query: { path: folder, limit: MEMBERS } },
          { signal },
        )
        const entities = items.flatMap(({ targetId, metadata, name }) =>
          targetId === undefined
            ? []
            : [{ id: targetId, name: typeof metadata.name === 'string' ? metadata.name : name }],
        )
        const best = entities.find(({ name }) => name === terms[0]) ?? entities[0]
        if (best === undefined) return { slug, entities, relations: [] }
        const { relations } = await client.fetchQuery(traversalOf(spaceId, best.id, TRAVERSAL))
        return { slug, entities, relations }
      }),
  })
}

export function traversalOf(spaceId: string, entityId: string, bounds: typeof TRAVERSAL) {
  return queryOptions<GraphTraversal>({
    queryKey: ['GET /knowledge-spaces/{id}/graph/traverse', spaceId, entityId, bounds],
    queryFn: ({ signal }) =>
      call(
        'GET /knowledge-spaces/{id}/graph/traverse',
        { path: { id: spaceId }, query: { entityId, ...bounds } },
        { signal },
      ),
  })
}

/** The whole space: a circle for each community, and the members of those that were read. */
export function wholeOf(communities: readonly Community[], members: readonly (Members | undefined)[]): Drawn {
  const dots = new Map<string, Dot>()
  const lines: Drawn['lines'] = []
  communities.forEach(({ slug, name, entityCount }, at) => {
    const hub = hubOf(slug)
    dots.set(hub, { id: hub, label: name, kind: 'community', community: at, size: 4 + 0.7 * Math.sqrt(entityCount) })
    for (const entity of members[at]?.entities ?? []) {
      if (!dots.has(entity.id))
        dots.set(entity.id, { id: entity.id, label: entity.name, kind: 'entity', community: at, size: 2 })
      lines.push({ from: hub, to: entity.id, isStated: false, isHidden: true })
    }
  })
  const seen = new Set<string>()
  for (const { subjectEntityId: from, objectEntityId: to, type } of members.flatMap((one) => one?.relations ?? [])) {
    const key = from < to ? `${from} ${to}` : `${to} ${from}`
    if (from === to || seen.has(key) || !dots.has(from) || !dots.has(to)) continue
    seen.add(key)
    lines.push({ from, to, isStated: type !== 'mentions', isHidden: false })
    for (const id of [from, to]) {
      const dot = dots.get(id)
      if (dot !== undefined) dot.size = dot.kind === 'community' ? dot.size : Math.min(dot.size + 0.3, 6)
    }
  }
  return { dots: [...dots.values()], lines }
}

/** What is around one entity. */
export function aroundOf(
  entityId: string,
  { entities, relations }: GraphTraversal,
  communityOf: ReadonlyMap<string, number>,
): Drawn {
  const known = new Set(entities.map(({ id }) => id))
  return {
    dots: entities.map(({ id, name, depth }) => ({
      id,
      label: name,
      kind: 'entity',
      community: communityOf.get(id) ?? -1,
      size: id === entityId ? 14 : depth === 1 ? 7 : 4,
    })),
    lines: relations
      .filter(({ subjectEntityId, objectEntityId }) => known.has(subjectEntityId) && known.has(objectEntityId))
      .map(({ subjectEntityId, objectEntityId, type }) => ({
        from: subjectEntityId,
        to: objectEntityId,
        isStated: type !== 'mentions',
        isHidden: false,
      })),
  }
}

export const hubOf = (slug: string) => `community ${slug}`

/** The colour of a community, apart from its neighbours' in the list. Canvas and WebGL take it as it is. */
export function colourOf(community: number, isDark: boolean): string {
  if (community < 0) return isDark ? '#8a938f' : '#7b827f'
  const hue = (community * 137.508 + 168) % 360
  return hex(hue, isDark ? 0.5 : 0.55, isDark ? 0.64 : 0.42)
}

function hex(hue: number, saturation: number, lightness: number): string {
  const reach = saturation * Math.min(lightness, 1 - lightness)
  const part = (shift: number) => {
    const k = (shift + hue / 30) % 12
    const value = lightness - reach * Math.max(-1, Math.min(k - 3, 9 - k, 1))
    return Math.round(value * 255)
      .toString(16)
      .padStart(2, '0')
  }
  return `#${part(0)}${part(8)}${part(4)}`
}
