import { z } from 'zod'
import { isoDateTime, positive, SpaceParams, uuid } from '../primitives.js'
import { route } from '../route.js'

const retentionRules = {
  answerTraceRetentionDays: positive,
  evidenceCacheRetentionDays: positive,
  inactiveProjectionRetentionDays: positive,
  parseArtifactVersions: positive,
  /** null: the bytes of deleted documents do not expire */
  rawDocumentRetentionDays: positive.nullable(),
  sessionInactivityMinutes: positive,
}

export const RetentionPolicy = z
  .strictObject({
    id: uuid,
    tenantId: z.string(),
    knowledgeSpaceId: uuid.nullable(),
    scope: z.enum(['tenant', 'knowledge_space']),
    ...retentionRules,
    createdAt: isoDateTime,
    updatedAt: isoDateTime,
  })
  .meta({ id: 'RetentionPolicy' })
export type RetentionPolicy = z.output<typeof RetentionPolicy>

export const RetentionPolicyBody = z.strictObject(retentionRules).partial().meta({ id: 'RetentionPolicyRequest' })
export type RetentionPolicyBody = z.output<typeof RetentionPolicyBody>

export const retentionRoutes = [
  route({
    id: 'getTenantRetentionPolicy',
    method: 'GET',
    path: '/retention-policy',
    scope: 'read',
    summary: 'Get the retention policy of the tenant.',
    ok: { 200: RetentionPolicy },
    errors: [],
  }),
  route({
    id: 'updateTenantRetentionPolicy',
    method: 'PATCH',
    path: '/retention-policy',
    scope: 'write',
    summary: 'Update the retention policy of the tenant; omitted fields stay unchanged.',
    body: RetentionPolicyBody,
    ok: { 200: RetentionPolicy },
    errors: [400],
  }),
  route({
    id: 'getSpaceRetentionPolicy',
    method: 'GET',
    path: '/knowledge-spaces/{id}/retention-policy',
    scope: 'read',
    summary: 'Get the retention policy of a space.',
    params: SpaceParams,
    ok: { 200: RetentionPolicy },
    errors: [404],
  }),
  route({
    id: 'updateSpaceRetentionPolicy',
    method: 'PATCH',
    path: '/knowledge-spaces/{id}/retention-policy',
    scope: 'write',
    summary: 'Update the retention policy of a space; omitted fields stay unchanged.',
    params: SpaceParams,
    body: RetentionPolicyBody,
    ok: { 200: RetentionPolicy },
    errors: [400, 404],
  }),
] as const
