import { queryOptions } from '@tanstack/react-query'
import { call } from '../../api/client.js'
import type { WholeGraph } from './drawn.js'

/** Maximum that a browser draws at an interactive speed; other entities are found by search. */
export const MOST_ENTITIES = 10_000
export const MOST_RELATIONS = 30_000
const PAGE = 500

/** Query of all entities of a space and their relations, up to the maximum. */
export function wholeGraph(spaceId: string, version: string) {
  return queryOptions<WholeGraph>({
    queryKey: ['graph-whole', spaceId, version],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const path = { id: spaceId }
      const [entities, relations] = await Promise.all([
        allOf(MOST_ENTITIES, (at) =>
          call('GET /knowledge-spaces/{id}/graph/entities', { path, query: { limit: PAGE, ...at } }, { signal }),
        ),
        allOf(MOST_RELATIONS, (at) =>
          call('GET /knowledge-spaces/{id}/graph/relations', { path, query: { limit: PAGE, ...at } }, { signal }),
        ),
      ])
      return {
        entities: entities.items.map(({ id, name }) => ({ id, name })),
        relations: relations.items.map(({ subjectEntityId: from, objectEntityId: to, type }) => ({
          from,
          to,
          isStated: type !== 'mentions',
        })),
        isCut: entities.isCut || relations.isCut,
      }
    },
  })
}

async function allOf<T>(
  most: number,
  read: (at: { cursor?: string }) => Promise<{ items: T[]; nextCursor?: string | undefined }>,
): Promise<{ items: T[]; isCut: boolean }> {
  const items: T[] = []
  let cursor: string | undefined
  do {
    const page = await read(cursor === undefined ? {} : { cursor })
    for (const item of page.items) items.push(item)
    cursor = page.nextCursor
  } while (cursor !== undefined && items.length < most)
  return { items: items.slice(0, most), isCut: cursor !== undefined || items.length > most }
}
