import { z } from 'zod'
import { LIMITS } from '../limits.js'
import { ConcreteMode, ModelReference, positive, SpaceParams } from '../primitives.js'
import { route } from '../route.js'

export const RetrievalProfileBody = z
  .strictObject({
    defaultMode: ConcreteMode,
    modes: z.array(ConcreteMode).min(1).max(3),
    topK: z.int().min(1).max(LIMITS.topK),
    scoreThreshold: z.number().min(0).max(1),
    reasoningModel: ModelReference.optional(),
    /** Absent: the default of a new space. */
    rerank: z.strictObject({ enabled: z.boolean(), model: ModelReference.optional() }).default({ enabled: true }),
  })
  .meta({ id: 'RetrievalProfileRequest' })
export type RetrievalProfileBody = z.output<typeof RetrievalProfileBody>

export const RetrievalProfile = z
  .strictObject({ revision: positive, ...RetrievalProfileBody.shape })
  .meta({ id: 'RetrievalProfile' })
export type RetrievalProfile = z.output<typeof RetrievalProfile>

export const retrievalProfileRoutes = [
  route({
    id: 'getRetrievalProfile',
    method: 'GET',
    path: '/knowledge-spaces/{id}/retrieval-profile',
    scope: 'read',
    summary: 'Get the retrieval profile of a space: its models and retrieval settings.',
    params: SpaceParams,
    ok: { 200: RetrievalProfile },
    errors: [404],
    extension: true,
  }),
  route({
    id: 'setRetrievalProfile',
    method: 'PUT',
    path: '/knowledge-spaces/{id}/retrieval-profile',
    scope: 'write',
    summary: 'Publish a retrieval profile; its revision rises by one.',
    params: SpaceParams,
    body: RetrievalProfileBody,
    ok: { 200: RetrievalProfile },
    errors: [400, 404, 503],
    extension: true,
  }),
] as const
