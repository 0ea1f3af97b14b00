import { z } from 'zod'
import { LIMITS } from '../limits.js'
import { ConcreteMode, SpaceParams, uuid } from '../primitives.js'
import { route } from '../route.js'
import { DocumentFilter } from './document-filter.js'
import { EvidenceItem, TermCorrection } from './queries.js'

export const SearchBody = z.strictObject({
  query: z.string().min(1).max(LIMITS.queryText),
  /** Absent: the default mode of the space's retrieval profile. */
  mode: ConcreteMode.optional(),
  limit: z.int().min(1).max(LIMITS.searchResults.max).default(LIMITS.searchResults.default),
  activeDocumentIds: z.array(uuid).max(LIMITS.activeIds).default([]),
  activeEntityIds: z.array(z.string().min(1).max(LIMITS.activeEntityId)).max(LIMITS.activeIds).default([]),
  filter: DocumentFilter.optional(),
})
export type SearchBody = z.output<typeof SearchBody>

/** A retrieved passage; without conflicts, because nothing is judged. */
export const RetrievedPassage = EvidenceItem.omit({ conflicts: true }).meta({ id: 'FoundPassage' })
export type RetrievedPassage = z.output<typeof RetrievedPassage>

export const SearchResult = z
  .strictObject({
    query: z.string(),
    mode: ConcreteMode,
    publicationId: z.string(),
    /** Best first. */
    items: z.array(RetrievedPassage),
    searchedFor: z
      .array(TermCorrection)
      .optional()
      .describe('corrected words of the query; absent if no word was corrected'),
    /** Parts that could not be searched, by name; empty if all were. */
    degradedReasons: z.array(z.string()),
  })
  .meta({ id: 'SearchResult' })
export type SearchResult = z.output<typeof SearchResult>

export const searchRoutes = [
  route({
    id: 'searchSpace',
    method: 'POST',
    path: '/knowledge-spaces/{id}/queries/search',
    scope: 'read',
    summary: 'Search passages with the ranking of a query, without an answer, session or trace.',
    params: SpaceParams,
    body: SearchBody,
    ok: { 200: SearchResult },
    errors: [400, 404, 409, 429, 503],
    extension: true,
  }),
] as const
