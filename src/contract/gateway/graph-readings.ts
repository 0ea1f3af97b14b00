import { z } from 'zod'
import { LIMITS } from '../limits.js'
import { count, ModelReference, SpaceParams, uuid } from '../primitives.js'
import { route } from '../route.js'
import { GRAPH_READING_STATES } from '../values.js'
import { spaceWork } from './degraded.js'

/** How a whole space is read for its graph, behind everything else: by rules, and by the reasoning model of its profile. */

export const GraphReading = z
  .strictObject({
    id: uuid,
    knowledgeSpaceId: uuid,
    state: z.enum(GRAPH_READING_STATES),
    model: ModelReference.optional().describe('the model that reads beside the rules; absent: the rules alone'),
    passages: count.describe('passages of the space'),
    passagesRead: count.describe('passages that were read so far, now or before'),
    passagesAsked: count.describe('passages that the model was asked for by this reading'),
    passagesUnusable: count.describe('passages that the model gave no usable answer for'),
    budgetTokens: count,
    usedTokens: count,
    message: z.string().optional().describe('how to go on, where it has ended early'),
    ...spaceWork,
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
      'Read all passages of a space for entities and relations, in the background; the one that is under way gets the new budget.',
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
    summary: 'List the last readings of a whole space for its graph, newest first.',
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
    summary: 'Read how far a reading of a whole space for its graph is.',
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
    summary: 'Cancel a reading of a whole space for its graph that has not ended; what was read stays.',
    params: ReadingParams,
    ok: { 200: GraphReading },
    errors: [404, 409],
    extension: true,
  }),
] as const
