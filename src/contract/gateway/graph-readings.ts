import { z } from 'zod'
import { LIMITS } from '../limits.js'
import { count, ModelReference, SpaceParams, uuid } from '../primitives.js'
import { route } from '../route.js'
import { GRAPH_READING_STATES } from '../values.js'
import { spaceTaskFields } from './degraded.js'

/**
 * Reading of a complete space for its graph, with the lowest priority: by rules, and by the reasoning model of its
 * profile.
 */

export const GraphReading = z
  .strictObject({
    id: uuid,
    knowledgeSpaceId: uuid,
    state: z.enum(GRAPH_READING_STATES),
    model: ModelReference.optional().describe('model that reads in addition to the rules; absent: rules only'),
    passages: count.describe('number of passages in the space'),
    passagesRead: count.describe('number of passages read so far, including earlier readings'),
    passagesAsked: count.describe('number of passages sent to the model by this reading'),
    passagesUnusable: count.describe('number of passages without a usable response of the model'),
    budgetTokens: count,
    usedTokens: count,
    message: z.string().optional().describe('how to continue after an early end'),
    ...spaceTaskFields,
  })
  .meta({ id: 'GraphReading' })
export type GraphReading = z.output<typeof GraphReading>

const { min, max } = LIMITS.graphReadingTokens

export const StartGraphReadingBody = z.strictObject({
  budgetTokens: z.int().min(min).max(max).default(LIMITS.graphReadingTokens.default),
})
export type StartGraphReadingBody = z.output<typeof StartGraphReadingBody>

const ReadingParams = z.strictObject({ id: uuid, readingId: uuid })

export const graphReadingRoutes = [
  route({
    id: 'startGraphReading',
    method: 'POST',
    path: '/knowledge-spaces/{id}/graph/readings',
    scope: 'write',
    summary:
      'Start reading all passages of a space for entities and relations, in the background; a running reading gets the new budget.',
    params: SpaceParams,
    body: StartGraphReadingBody,
    ok: { 202: GraphReading },
    errors: [400, 404, 503],
    extension: true,
  }),
  route({
    id: 'listGraphReadings',
    method: 'GET',
    path: '/knowledge-spaces/{id}/graph/readings',
    scope: 'read',
    summary: 'List the latest readings of a space for its graph, newest first.',
    params: SpaceParams,
    ok: { 200: z.strictObject({ items: z.array(GraphReading) }) },
    errors: [404],
    extension: true,
  }),
  route({
    id: 'getGraphReading',
    method: 'GET',
    path: '/knowledge-spaces/{id}/graph/readings/{readingId}',
    scope: 'read',
    summary: 'Get the progress of a reading of a space for its graph.',
    params: ReadingParams,
    ok: { 200: GraphReading },
    errors: [404],
    extension: true,
  }),
  route({
    id: 'cancelGraphReading',
    method: 'DELETE',
    path: '/knowledge-spaces/{id}/graph/readings/{readingId}',
    scope: 'write',
    summary: 'Cancel a running reading of a space for its graph; its results so far are kept.',
    params: ReadingParams,
    ok: { 200: GraphReading },
    errors: [404, 409],
    extension: true,
  }),
] as const
