import { z } from 'zod'
import { count, ModelReference, SpaceParams, uuid } from '../primitives.js'
import { route } from '../route.js'
import { MIGRATION_STATES } from '../values.js'
import { spaceTaskFields } from './degraded.js'

/**
 * Migration of a space to another embedding model: its vectors are computed in addition to the old ones, then one
 * publication switches over.
 */

export const EmbeddingMigration = z
  .strictObject({
    id: uuid,
    state: z.enum(MIGRATION_STATES),
    /** Passages with a vector of the new model. */
    filled: count,
    /** Passages of the space. */
    total: count,
    /** Passages that the new model refused. */
    refused: count,
    embeddingProfile: ModelReference,
    ...spaceTaskFields,
  })
  .meta({ id: 'EmbeddingMigration' })
export type EmbeddingMigration = z.output<typeof EmbeddingMigration>

const MigrationParams = z.strictObject({ id: uuid, migrationId: uuid })

export const embeddingMigrationRoutes = [
  route({
    id: 'startEmbeddingMigration',
    method: 'POST',
    path: '/knowledge-spaces/{id}/embedding-profile/migrations',
    scope: 'write',
    summary: 'Migrate a space to another embedding model; queries use the old model until all vectors are computed.',
    params: SpaceParams,
    body: ModelReference,
    ok: { 202: EmbeddingMigration },
    errors: [400, 404, 409, 503],
    extension: true,
  }),
  route({
    id: 'getEmbeddingMigration',
    method: 'GET',
    path: '/knowledge-spaces/{id}/embedding-profile/migrations/{migrationId}',
    scope: 'read',
    summary: 'Get the progress of a migration to another embedding model.',
    params: MigrationParams,
    ok: { 200: EmbeddingMigration },
    errors: [404],
    extension: true,
  }),
  route({
    id: 'cancelEmbeddingMigration',
    method: 'DELETE',
    path: '/knowledge-spaces/{id}/embedding-profile/migrations/{migrationId}',
    scope: 'write',
    summary: 'Cancel a running migration to another embedding model; the space keeps its current model.',
    params: MigrationParams,
    ok: { 200: EmbeddingMigration },
    errors: [404, 409],
    extension: true,
  }),
] as const
