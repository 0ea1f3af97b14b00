import { KsError } from '../../contract/errors.js'
import type { EmbeddingMigration } from '../../contract/gateway/embedding-migrations.js'
import type { Caller } from '../base/caller.js'
import type { ModelReference } from '../base/model-reference.js'
import type { EngineContext } from '../context.js'
import { abandon, insertMigration, migrationRows, toMigration } from '../rows/embedding-migrations.js'
import { findSpace } from '../rows/spaces.js'
import { assertEmbedding } from '../spaces/spaces.js'
import type { Read } from '../storage/program.js'
import { writeAnswer } from '../storage/write-answer.js'

/** @throws KsError `migration-active` while another migration of the space runs, `provider-not-configured` */
export async function startMigration(
  context: EngineContext,
  caller: Caller,
  spaceId: string,
  model: ModelReference,
): Promise<EmbeddingMigration> {
  const made = await writeAnswer(context.db, caller, function* () {
    const space = yield* findSpace(caller.tenant, spaceId)
    const open = yield* migrationRows.openOf(space)
    if (open !== undefined)
      throw new KsError(
        'migration-active',
        `space ${JSON.stringify(space.slug)} is already moving to another embedding model: migration ${open.id} has not ended`,
      )
    assertEmbedding(context, model)
    return yield* toMigration(yield* insertMigration(space, model))
  })
  context.migrations.wake()
  return made
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
  const { row, answer } = await writeAnswer(
    context.db,
    caller,
    function* () {
      const space = yield* findSpace(caller.tenant, spaceId)
      yield* abandon(yield* migrationRows.findOpen(space, id), 'canceled')
      const row = yield* migrationRows.find(space, id)
      return { row, answer: yield* toMigration(row) }
    },
    { answer: (ended) => ended.answer, lock: { tenant: caller.tenant, id: spaceId } },
  )
  await context.migrations.ended(row)
  return answer
}
