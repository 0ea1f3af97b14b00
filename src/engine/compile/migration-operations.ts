import { KsError } from '../../contract/errors.js'
import type { EmbeddingMigration } from '../../contract/gateway/embedding-migrations.js'
import { newId } from '../../lib/ids.js'
import type { Caller } from '../base/caller.js'
import type { ModelReference } from '../base/model-reference.js'
import type { EngineContext } from '../context.js'
import { findSpace } from '../rows/spaces.js'
import { assertEmbedding } from '../spaces/spaces.js'
import { type Read, sql } from '../storage/program.js'
import { writeAnswer } from '../storage/write-answer.js'
import { abandon, migrationRows, toMigration } from './migration-rows.js'

/** @throws KsError `migration-active` while another one of the space is under way, `provider-not-configured` */
export async function startMigration(
  context: EngineContext,
  caller: Caller,
  spaceId: string,
  model: ModelReference,
): Promise<EmbeddingMigration> {
  const { db } = context
  const row = await writeAnswer(
    db,
    caller,
    function* () {
      const space = yield* findSpace(caller.tenant, spaceId)
      assertEmbedding(context, model)
      const open = yield* sql.get<{ id: string }>(
        'SELECT id FROM embedding_migrations WHERE space_key = ? AND completed_at IS NULL',
        [space.key],
      )
      if (open !== undefined)
        throw new KsError(
          'migration-active',
          `space ${JSON.stringify(space.slug)} is moving to another embedding model already: migration ${open.id} has not ended`,
        )
      const id = newId()
      const now = Date.now()
      yield* sql.run(
        `INSERT INTO embedding_migrations (id, space_key, plugin, provider, model, vector_space, state, created_at, updated_at)
       VALUES (?, ?, ?, ?, ?, ?, 'filling', ?, ?)`,
        [id, space.key, model.pluginId, model.provider, model.model, newId(), now, now],
      )
      return migrationRows.find(db, space, id)
    },
    (made) => db.now(toMigration(made)),
  )
  context.migrations.wake()
  return db.now(toMigration(row))
}

export function* getMigration(
  context: EngineContext,
  caller: Caller,
  spaceId: string,
  id: string,
): Read<EmbeddingMigration> {
  const { db } = context
  return yield* toMigration(migrationRows.find(db, yield* findSpace(caller.tenant, spaceId), id))
}

/** @throws KsError `already-terminal` when the migration has ended */
export async function cancelMigration(
  context: EngineContext,
  caller: Caller,
  spaceId: string,
  id: string,
): Promise<EmbeddingMigration> {
  const { db } = context
  const row = await writeAnswer(
    db,
    caller,
    function* () {
      const space = yield* findSpace(caller.tenant, spaceId)
      yield* abandon(migrationRows.findOpen(db, space, id), 'canceled')
      return migrationRows.find(db, space, id)
    },
    (ended) => db.now(toMigration(ended)),
  )
  await context.migrations.ended(row)
  return db.now(toMigration(row))
}
