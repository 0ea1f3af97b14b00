import { queryOptions } from '@tanstack/react-query'
import { call } from '../../api/client.js'
import type { SpaceGraph } from './drawing.js'

/** Maximum that a browser draws at an interactive speed; other entities are found by search. */
export const MAX_ENTITIES = 10_000
export const MAX_RELATIONS = 30_000
const PAGE_SIZE = 500

/** Query of all entities of a space and their relations, up to the maximum. */
export function spaceGraphQuery(spaceId: string, version: string) {
  return queryOptions<SpaceGraph>({
    queryKey: ['graph-whole', spaceId, version],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const path = { id: spaceId }
      const [entities, relations] = await Promise.all([
        readPages(MAX_ENTITIES, (page) =>
          call('GET /knowledge-spaces/{id}/graph/entities', { path, query: { limit: PAGE_SIZE, ...page } }, { signal }),
        ),
        readPages(MAX_RELATIONS, (page) =>
          call(
            'GET /knowledge-spaces/{id}/graph/relations',
            { path, query: { limit: PAGE_SIZE, ...page } },
            { signal },
          ),
        ),
      ])
      return {
        entities: entities.items.map(({ id, name }) => ({ id, name })),
        relations: relations.items.map(({ subjectEntityId: from, objectEntityId: to, type }) => ({
          from,
          to,
          isStated: type !== 'mentions',
        })),
        isTruncated: entities.isCut || relations.isCut,
      }
    },
  })
}

async function readPages<T>(
  maxItems: number,
  read: (page: { cursor?: string }) => Promise<{ items: T[]; nextCursor?: string | undefined }>,
): Promise<{ items: T[]; isCut: boolean }> {
  const items: T[] = []
  let cursor: string | undefined
  do {
    const page = await read(cursor === undefined ? {} : { cursor })
    for (const item of page.items) items.push(item)
    cursor = page.nextCursor
  } while (cursor !== undefined && items.length < maxItems)
  return { items: items.slice(0, maxItems), isCut: cursor !== undefined || items.length > maxItems }
}
