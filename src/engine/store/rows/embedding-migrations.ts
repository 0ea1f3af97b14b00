import type { EmbeddingMigration } from '../../../contract/gateway/embedding-migrations.js'
import { newId } from '../../../lib/ids.js'
import type { ModelReference } from '../../base/model-reference.js'
import type { ProviderProblem } from '../../base/provider-problem.js'
import { type Read, readClock, sql, type Write } from '../program.js'
import type { EmbeddingInputRow } from './nodes.js'
import { publishNextRevision } from './publications.js'
import { createWorkTable, isWaitingForProvider, type SpaceWork, toWorkStatus } from './space-work.js'
import type { SpaceRow } from './spaces.js'
import { findVectorSpaceInState, supersedeActiveVectorSpace, type VectorSpace } from './vector-spaces.js'
import { markVectorsDue } from './vectors-due.js'

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

export const migrationRows = createWorkTable<MigrationRow>('embedding_migrations', 'embedding migration')

/** Begins a migration, inside the caller's transaction. */
export function* insertMigration(space: SpaceRow, model: ModelReference): Write<MigrationRow> {
  const id = newId()
  const now = yield* readClock()
  yield* sql.run(
    `INSERT INTO embedding_migrations (id, space_key, plugin, provider, model, vector_space, state, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, 'filling', ?, ?)`,
    [id, space.key, model.pluginId, model.provider, model.model, newId(), now, now],
  )
  return yield* migrationRows.find(space, id)
}

export function* toMigration(row: MigrationRow): Read<EmbeddingMigration> {
  const { filled, total } = row.completed_at === null ? yield* getProgress(row) : row
  return {
    id: row.id,
    state: isWaitingForProvider(row) ? 'waiting' : row.state,
    filled,
    total,
    refused:
      row.state === 'published'
        ? yield* countRejected('vector_refusals', row)
        : yield* countRejected(REJECTIONS_TABLE, row),
    embeddingProfile: { pluginId: row.plugin, provider: row.provider, model: row.model },
    ...toWorkStatus(row),
  }
}

const REJECTIONS_TABLE = 'embedding_migration_refusals'

function* countRejected(table: 'vector_refusals' | typeof REJECTIONS_TABLE, { space_key }: MigrationRow): Read<number> {
  return yield* sql.count(`SELECT count(*) n FROM ${table} WHERE space_key = ?`, [space_key])
}

/** Progress by the counters that the triggers of the schema keep. */
function* getProgress({ space_key, vector_space }: MigrationRow): Read<{ filled: number; total: number }> {
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
export function* findTargetVectorSpace({ vector_space, space_key }: MigrationRow): Read<VectorSpace | undefined> {
  return yield* findVectorSpaceInState('building', space_key, vector_space)
}

/** Passages without a vector, of current versions and of those that will become current, in key order. */
export function* listUnfilled(row: MigrationRow, after: number, limit: number): Read<EmbeddingInputRow[]> {
  const target = yield* findTargetVectorSpace(row)
  return yield* sql.all<EmbeddingInputRow>(
    `SELECT nodes.key, nodes.doc_key, nodes.title, nodes.text
     FROM nodes INDEXED BY nodes_place JOIN versions INDEXED BY versions_at ON versions.key = nodes.version_key
     LEFT JOIN vectors ON vectors.vector_space = ? AND vectors.node_key = nodes.key
     LEFT JOIN ${REJECTIONS_TABLE} refusals ON refusals.space_key = nodes.space_key AND refusals.node_key = nodes.key
     WHERE nodes.key > ? AND nodes.space_key = ? AND versions.until_revision IS NULL
       AND vectors.node_key IS NULL AND refusals.node_key IS NULL
     ORDER BY nodes.key LIMIT ?`,
    [target?.key ?? -1, after, row.space_key, limit],
  )
}

export function* storeRejection(spaceKey: number, nodeKey: number, error: string): Write<void> {
  yield* sql.run(`INSERT OR REPLACE INTO ${REJECTIONS_TABLE} (space_key, node_key, error) VALUES (?, ?, ?)`, [
    spaceKey,
    nodeKey,
    error,
  ])
}

/** Resets the retries: the provider responds again. */
export function* resetMigrationRetries(key: number): Write<void> {
  yield* sql.run(
    'UPDATE embedding_migrations SET attempts = 0, next_at = 0, error = NULL, error_class = NULL, updated_at = ? WHERE key = ?',
    [yield* readClock(), key],
  )
}

/** Ends a migration without effect, inside the caller's transaction; its vectors are removed later. */
export function* endMigration(
  row: MigrationRow,
  state: 'failed' | 'canceled',
  failure?: Pick<ProviderProblem, 'class' | 'message'>,
): Write<void> {
  const { filled, total } = yield* getProgress(row)
  const now = yield* readClock()
  yield* sql.run(
    `UPDATE embedding_migrations SET state = ?, error = ?, error_class = ?, filled = ?, total = ?, updated_at = ?, completed_at = ?
     WHERE key = ? AND completed_at IS NULL`,
    [state, failure?.message ?? null, failure?.class ?? null, filled, total, now, now, row.key],
  )
  yield* sql.run("UPDATE vector_spaces SET state = 'superseded' WHERE id = ? AND state = 'building'", [
    row.vector_space,
  ])
  yield* sql.run(`DELETE FROM ${REJECTIONS_TABLE} WHERE space_key = ?`, [row.space_key])
}

/** Makes the filled vector space the active one, inside the caller's transaction, as one publication. */
export function* publishMigration(row: MigrationRow, target: VectorSpace | undefined): Write<void> {
  const { space_key: space } = row
  const { filled, total } = yield* getProgress(row)
  const now = yield* readClock()
  yield* supersedeActiveVectorSpace(space)
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
  yield* sql.run(
    `INSERT INTO vector_refusals SELECT space_key, node_key, error FROM ${REJECTIONS_TABLE} WHERE space_key = ?`,
    [space],
  )
  yield* sql.run(`DELETE FROM ${REJECTIONS_TABLE} WHERE space_key = ?`, [space])
  const refused = yield* sql.all<{ version_key: number }>(
    `SELECT DISTINCT nodes.version_key FROM vector_refusals JOIN nodes ON nodes.key = vector_refusals.node_key
     JOIN versions ON versions.key = nodes.version_key
     WHERE vector_refusals.space_key = ? AND versions.until_revision IS NULL`,
    [space],
  )
  yield* markVectorsDue(
    space,
    refused.map(({ version_key }) => version_key),
  )
  yield* publishNextRevision(space, `embedding ${row.vector_space}`)
  yield* sql.run(
    `UPDATE embedding_migrations SET state = 'published', attempts = 0, error = NULL, error_class = NULL, filled = ?, total = ?,
       updated_at = ?, completed_at = ? WHERE key = ?`,
    [filled, total, now, now, row.key],
  )
}
