import type { EmbeddingMigration } from '../../contract/gateway/embedding-migrations.js'
import { newId } from '../../lib/ids.js'
import type { ModelReference } from '../base/model-reference.js'
import type { ProviderTrouble } from '../models/trouble.js'
import { type Read, sql, type Write } from '../storage/program.js'
import type { PassageRow } from './nodes.js'
import { publishNext } from './publications.js'
import { isWaiting, type SpaceWork, toldOf, workTable } from './space-work.js'
import type { SpaceRow } from './spaces.js'
import { supersedeActive, type VectorSpace, vectorSpaceIn } from './vector-spaces.js'
import { oweVectors } from './vectors-due.js'

/** The migration of a space to another embedding model. */
export interface MigrationRow extends SpaceWork {
  plugin: string
  provider: string
  model: string
  vector_space: string
  state: 'filling' | 'published' | 'failed' | 'canceled'
  filled: number
  total: number
}

export const migrationRows = workTable<MigrationRow>('embedding_migrations', 'embedding migration')

/** Begins a migration, inside the caller's transaction. */
export function* insertMigration(space: SpaceRow, model: ModelReference): Write<MigrationRow> {
  const id = newId()
  const now = Date.now()
  yield* sql.run(
    `INSERT INTO embedding_migrations (id, space_key, plugin, provider, model, vector_space, state, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, 'filling', ?, ?)`,
    [id, space.key, model.pluginId, model.provider, model.model, newId(), now, now],
  )
  return yield* migrationRows.find(space, id)
}

export function* toMigration(row: MigrationRow): Read<EmbeddingMigration> {
  const { filled, total } = row.completed_at === null ? yield* progressOf(row) : row
  return {
    id: row.id,
    state: isWaiting(row) ? 'waiting' : row.state,
    filled,
    total,
    refused: row.state === 'published' ? yield* refusedOf('vector_refusals', row) : yield* refusedOf(REFUSALS, row),
    embeddingProfile: { pluginId: row.plugin, provider: row.provider, model: row.model },
    ...toldOf(row),
  }
}

const REFUSALS = 'embedding_migration_refusals'

function* refusedOf(table: 'vector_refusals' | typeof REFUSALS, { space_key }: MigrationRow): Read<number> {
  return (yield* sql.get<{ n: number }>(`SELECT count(*) n FROM ${table} WHERE space_key = ?`, [space_key]))?.n ?? 0
}

/** Progress by the counters that the triggers of the schema keep. */
function* progressOf({ space_key, vector_space }: MigrationRow): Read<{ filled: number; total: number }> {
  const row = yield* sql.get<{ filled: number | null; total: number | null }>(
    `SELECT (SELECT live FROM vector_counts JOIN vector_spaces ON vector_spaces.key = vector_counts.vector_space
             WHERE vector_spaces.id = ?) filled,
       (SELECT node_count FROM space_usage WHERE space_key = ?) total`,
    [vector_space, space_key],
  )
  return { filled: row?.filled ?? 0, total: row?.total ?? 0 }
}

/**
 * The vector space that a migration fills; undefined before its first vector, or before the training of a trained
 * model.
 */
export function* targetOf({ vector_space, space_key }: MigrationRow): Read<VectorSpace | undefined> {
  return yield* vectorSpaceIn('building', space_key, vector_space)
}

/** Passages without a vector, of current versions and of those that will become current, in key order. */
export function* unfilled(row: MigrationRow, after: number, limit: number): Read<PassageRow[]> {
  const target = yield* targetOf(row)
  return yield* sql.all<PassageRow>(
    `SELECT nodes.key, nodes.doc_key, nodes.title, nodes.text
     FROM nodes INDEXED BY nodes_place JOIN versions INDEXED BY versions_at ON versions.key = nodes.version_key
     LEFT JOIN vectors ON vectors.vector_space = ? AND vectors.node_key = nodes.key
     LEFT JOIN ${REFUSALS} refusals ON refusals.space_key = nodes.space_key AND refusals.node_key = nodes.key
     WHERE nodes.key > ? AND nodes.space_key = ? AND versions.until_revision IS NULL
       AND vectors.node_key IS NULL AND refusals.node_key IS NULL
     ORDER BY nodes.key LIMIT ?`,
    [target?.key ?? -1, after, row.space_key, limit],
  )
}

export function* noteRefusal(spaceKey: number, nodeKey: number, error: string): Write<void> {
  yield* sql.run(`INSERT OR REPLACE INTO ${REFUSALS} (space_key, node_key, error) VALUES (?, ?, ?)`, [
    spaceKey,
    nodeKey,
    error,
  ])
}

/** Resets the retries: the provider responds again. */
export function* goOn(key: number): Write<void> {
  yield* sql.run(
    'UPDATE embedding_migrations SET attempts = 0, next_at = 0, error = NULL, error_class = NULL, updated_at = ? WHERE key = ?',
    [Date.now(), key],
  )
}

/** Ends a migration without effect, inside the caller's transaction; its vectors are removed later. */
export function* abandon(
  row: MigrationRow,
  state: 'failed' | 'canceled',
  why?: Pick<ProviderTrouble, 'class' | 'message'>,
): Write<void> {
  const { filled, total } = yield* progressOf(row)
  const now = Date.now()
  yield* sql.run(
    `UPDATE embedding_migrations SET state = ?, error = ?, error_class = ?, filled = ?, total = ?, updated_at = ?, completed_at = ?
     WHERE key = ? AND completed_at IS NULL`,
    [state, why?.message ?? null, why?.class ?? null, filled, total, now, now, row.key],
  )
  yield* sql.run("UPDATE vector_spaces SET state = 'superseded' WHERE id = ? AND state = 'building'", [
    row.vector_space,
  ])
  yield* sql.run(`DELETE FROM ${REFUSALS} WHERE space_key = ?`, [row.space_key])
}

/** Makes the filled vector space the active one, inside the caller's transaction, as one publication. */
export function* switchTo(row: MigrationRow, target: VectorSpace | undefined): Write<void> {
  const { space_key: space } = row
  const { filled, total } = yield* progressOf(row)
  const now = Date.now()
  yield* supersedeActive(space)
  yield* sql.run(
    `UPDATE spaces SET embedding_plugin = ?, embedding_provider = ?, embedding_model = ?, vector_space = ?, dimension = ?,
       embedding_revision = embedding_revision + 1, manifest_version = manifest_version + 1, updated_at = ? WHERE key = ?`,
    [row.plugin, row.provider, row.model, row.vector_space, target?.dimension ?? null, now, space],
  )
  if (target !== undefined)
    yield* sql.run(
      `UPDATE vector_spaces SET state = 'active',
         revision = (SELECT embedding_revision FROM spaces WHERE key = space_key) WHERE key = ?`,
      [target.key],
    )
  // due, rejected and waiting vectors were those of the old model
  for (const table of ['vectors_due', 'vector_refusals', 'vector_waits'])
    yield* sql.run(`DELETE FROM ${table} WHERE space_key = ?`, [space])
  yield* sql.run(`INSERT INTO vector_refusals SELECT space_key, node_key, error FROM ${REFUSALS} WHERE space_key = ?`, [
    space,
  ])
  yield* sql.run(`DELETE FROM ${REFUSALS} WHERE space_key = ?`, [space])
  const refused = yield* sql.all<{ version_key: number }>(
    `SELECT DISTINCT nodes.version_key FROM vector_refusals JOIN nodes ON nodes.key = vector_refusals.node_key
     JOIN versions ON versions.key = nodes.version_key
     WHERE vector_refusals.space_key = ? AND versions.until_revision IS NULL`,
    [space],
  )
  yield* oweVectors(
    space,
    refused.map(({ version_key }) => version_key),
  )
  yield* publishNext(space, `embedding ${row.vector_space}`)
  yield* sql.run(
    `UPDATE embedding_migrations SET state = 'published', attempts = 0, error = NULL, error_class = NULL, filled = ?, total = ?,
       updated_at = ?, completed_at = ? WHERE key = ?`,
    [filled, total, now, now, row.key],
  )
}
