import { KsError } from '../../../contract/errors.js'
import type { EmbeddingMigration } from '../../../contract/gateway/embedding-migrations.js'
import type { Caller } from '../../base/caller.js'
import type { ModelReference } from '../../base/model-reference.js'
import { assertEmbeddingModel, type EngineContext } from '../../library/index.js'
import type { Read } from '../../store/program.js'
import { endMigration, insertMigration, migrationRows, toMigration } from '../../store/rows/embedding-migrations.js'
import { findSpace } from '../../store/rows/spaces.js'
import { writeReply } from '../../store/write-reply.js'

/** @throws KsError `migration-active` while another migration of the space runs, `provider-not-configured` */
export async function startMigration(
  context: EngineContext,
  caller: Caller,
  spaceId: string,
  model: ModelReference,
): Promise<EmbeddingMigration> {
  const migration = await writeReply(context.db, caller, function* () {
    const space = yield* findSpace(caller.tenant, spaceId)
    const open = yield* migrationRows.findOpenOfSpace(space)
    if (open !== undefined)
      throw new KsError(
        'migration-active',
        `space ${JSON.stringify(space.slug)} is already moving to another embedding model: migration ${open.id} has not ended`,
      )
    assertEmbeddingModel(context, model)
    return yield* toMigration(yield* insertMigration(space, model))
  })
  context.migrations.wake()
  return migration
}

export function* getMigration(caller: Caller, spaceId: string, id: string): Read<EmbeddingMigration> {
  return yield* toMigration(yield* migrationRows.find(yield* findSpace(caller.tenant, spaceId), id))
}

/** @throws KsError `already-terminal` when the migration has ended */
export async function cancelMigration(
  context: EngineContext,
  caller: Caller,
  spaceId: string,
  id: string,
): Promise<EmbeddingMigration> {
  const { row, answer } = await writeReply(
    context.db,
    caller,
    function* () {
      const space = yield* findSpace(caller.tenant, spaceId)
      yield* endMigration(yield* migrationRows.findOpen(space, id), 'canceled')
      const row = yield* migrationRows.find(space, id)
      return { row, answer: yield* toMigration(row) }
    },
    { toReply: (ended) => ended.answer, lock: { tenant: caller.tenant, id: spaceId } },
  )
  await context.migrations.stopEnded(row)
  return answer
}
