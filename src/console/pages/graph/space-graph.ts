import { queryOptions } from '@tanstack/react-query'
import { readBoundedList } from '../../api/bounded-list.js'
import type { SpaceGraph } from './drawing.js'

/** Maximum that a browser draws at an interactive speed; other entities are found by search. */
const MAX_ENTITIES = 10_000
const MAX_RELATIONS = 30_000
const PAGE_SIZE = 500

/** Query of all entities of a space and their relations, up to the maximum. */
export function spaceGraphQuery(spaceId: string, version: string) {
  return queryOptions<SpaceGraph>({
    queryKey: ['space-graph', spaceId, version],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const input = (position: { cursor?: string }) => ({
        path: { id: spaceId },
        query: { limit: PAGE_SIZE, ...position },
      })
      const [entities, relations] = await Promise.all([
        readBoundedList('GET /knowledge-spaces/{id}/graph/entities', input, { maxItems: MAX_ENTITIES, signal }),
        readBoundedList('GET /knowledge-spaces/{id}/graph/relations', input, { maxItems: MAX_RELATIONS, signal }),
      ])
      return {
        entities: entities.items.map(({ id, name }) => ({ id, name })),
        relations: relations.items.map(({ subjectEntityId, objectEntityId, type }) => ({
          from: subjectEntityId,
          to: objectEntityId,
          isStated: type !== 'mentions',
        })),
        isTruncated: entities.isTruncated || relations.isTruncated,
      }
    },
  })
}
