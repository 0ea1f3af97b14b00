import { z } from 'zod'
import { LIMITS } from '../limits.js'
import { uuid } from '../primitives.js'
import { route } from '../route.js'
import { answerEvents, QueryBody, TermCorrection } from './queries.js'
import { RetrievedPassage, SearchBody } from './search.js'
import { searchedSpacesFields } from './searched-space.js'

const knowledgeSpaceIds = z
  .array(uuid)
  .min(1)
  .max(LIMITS.querySpaces.named)
  .optional()
  .describe(`ids of the spaces; absent: all spaces of the caller, at most the ${LIMITS.querySpaces.all} published last`)

export const SpacesQueryBody = QueryBody.omit({ knowledgeSpaceId: true, sessionId: true }).extend({ knowledgeSpaceIds })
export type SpacesQueryBody = z.output<typeof SpacesQueryBody>

export const SpacesSearchBody = SearchBody.extend({ knowledgeSpaceIds })
export type SpacesSearchBody = z.output<typeof SpacesSearchBody>

export const SpacesSearchResult = z
  .strictObject({
    query: z.string(),
    /** Best first. */
    items: z.array(RetrievedPassage),
    ...searchedSpacesFields,
    searchedFor: z
      .array(TermCorrection)
      .optional()
      .describe('words of the query that no space contains, with other forms; absent if no word was corrected'),
    /** Parts that could not be searched, by name; empty if all were. */
    degradedReasons: z.array(z.string()),
  })
  .meta({ id: 'SpacesSearchResult' })
export type SpacesSearchResult = z.output<typeof SpacesSearchResult>

export const severalSpacesRoutes = [
  route({
    id: 'querySpaces',
    method: 'POST',
    path: '/queries/spaces',
    scope: 'read',
    summary: 'Ask several spaces one question; the answer is a stream of server-sent events.',
    body: SpacesQueryBody,
    ok: { 200: 'event-stream' },
    events: answerEvents,
    description:
      'Each space is searched at its own revision with its own profile, and the passages are merged by rank. Citations name the space. Each space stores the trace of its part; the answer has the id of the first. A question over several spaces continues no session.',
    headers: { 'x-query-run-id': 'id of the trace in the first space' },
    errors: [400, 404, 409, 429, 503],
    extension: true,
  }),
  route({
    id: 'searchSpaces',
    method: 'POST',
    path: '/queries/spaces/search',
    scope: 'read',
    summary: 'Search passages of several spaces, merged by rank, without an answer or trace.',
    body: SpacesSearchBody,
    ok: { 200: SpacesSearchResult },
    errors: [400, 404, 409, 429, 503],
    extension: true,
  }),
] as const
