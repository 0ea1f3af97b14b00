import { queryOptions } from '@tanstack/react-query'
import pLimit from 'p-limit'
import type { Community } from '../../../contract/gateway/communities.js'
import type { GraphTraversal } from '../../../contract/gateway/graph.js'
import { call } from '../../api/client.js'
import type { CommunityMembers, GraphDrawing } from './drawing.js'

/** Maximum number of members that are read of a community; the best connected come first. */
const MAX_MEMBERS = 100
const MAX_CONCURRENT_REQUESTS = 4

const limitRequests = pLimit(MAX_CONCURRENT_REQUESTS)

/** Query of the listed members of a community. */
export function membersQuery(spaceId: string, { slug }: Community, generatedVersion: string) {
  return queryOptions<CommunityMembers>({
    queryKey: ['graph-members', spaceId, slug, generatedVersion],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) =>
      limitRequests(async () => {
        const query = { path: `/knowledge/communities/${slug}/entities`, limit: MAX_MEMBERS }
        const { items } = await call('GET /knowledge-spaces/{id}/fs/ls', { path: { id: spaceId }, query }, { signal })
        const entities = items.flatMap(({ targetId, metadata, name }) =>
          targetId === undefined
            ? []
            : [{ id: targetId, name: typeof metadata.name === 'string' ? metadata.name : name }],
        )
        return { slug, entities }
      }),
  })
}

interface TraversalBounds {
  depth: number
  fanout: number
  maxNodes: number
  timeoutMs: number
}

export function traversalQuery(spaceId: string, entityId: string, bounds: TraversalBounds) {
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

/** Builds the drawing of an entity and its neighbourhood. */
export function buildEntityDrawing(
  entityId: string,
  { entities, relations }: GraphTraversal,
  communityOf: ReadonlyMap<string, number>,
): GraphDrawing {
  const entityIds = new Set(entities.map(({ id }) => id))
  return {
    dots: entities.map(({ id, name, depth }) => ({
      id,
      label: name,
      kind: 'entity',
      community: communityOf.get(id) ?? -1,
      size: id === entityId ? 14 : depth === 1 ? 7 : 4,
    })),
    lines: relations
      .filter(({ subjectEntityId, objectEntityId }) => entityIds.has(subjectEntityId) && entityIds.has(objectEntityId))
      .map(({ subjectEntityId, objectEntityId, type }) => ({
        from: subjectEntityId,
        to: objectEntityId,
        isStated: type !== 'mentions',
      })),
  }
}

/** in degrees: consecutive multiples are distinct hues */
const HUE_STEP = 137.508
const FIRST_HUE = 168

/**
 * Colour of a community, distinct from its neighbours in the list; hexadecimal, for canvas and WebGL.
 *
 * @param index of the community in the list; -1 for none
 */
export function getCommunityColour(index: number, { isDark }: { isDark: boolean }): string {
  if (index < 0) return isDark ? '#8a938f' : '#7b827f'
  const hue = (index * HUE_STEP + FIRST_HUE) % 360
  return isDark ? hslToHex(hue, 0.5, 0.64) : hslToHex(hue, 0.55, 0.42)
}

function hslToHex(hue: number, saturation: number, lightness: number): string {
  const amplitude = saturation * Math.min(lightness, 1 - lightness)
  const channel = (shift: number) => {
    const k = (shift + hue / 30) % 12
    const value = lightness - amplitude * Math.max(-1, Math.min(k - 3, 9 - k, 1))
    return Math.round(value * 255)
      .toString(16)
      .padStart(2, '0')
  }
  return `#${channel(0)}${channel(8)}${channel(4)}`
}
