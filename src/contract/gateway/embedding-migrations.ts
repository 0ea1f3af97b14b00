import { z } from 'zod'
import { count, ModelReference, SpaceParams, uuid } from '../primitives.js'
import { route } from '../route.js'
import { MIGRATION_STATES } from '../values.js'
import { spaceWork } from './degraded.js'

/** How a space with documents gets another embedding model: its vectors are made beside the old ones, then one publication switches. */

export const EmbeddingMigration = z
  .strictObject({
    id: uuid,
    state: z.enum(MIGRATION_STATES),
    /** passages with a vector of the new model */
    filled: count,
    /** passages of the space */
    total: count,
    /** passages that the new model refused */
    refused: count,
    embeddingProfile: ModelReference,
    ...spaceWork,
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
    summary:
      'Move a space with documents to another embedding model; queries use the old one until all vectors are there.',
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
    summary: 'Read how far a migration to another embedding model is.',
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
    summary: 'Cancel a migration to another embedding model that has not ended; the space keeps the model it has.',
    params: MigrationParams,
    ok: { 200: EmbeddingMigration },
    errors: [404, 409],
    extension: true,
  }),
] as const
