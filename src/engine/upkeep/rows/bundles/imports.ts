import { type Read, readClock, sql, type Write } from '../../../store/program.js'
import type { SpaceRow } from '../../../store/rows/spaces.js'

/*
 * A space during import has the row of a deleted space, so that no reader sees it, and is claimed by its gateway, so
 * that the purge skips it. When the import fails, or its gateway dies, the claim is released, and the row is purged
 * like any other.
 */

/** The row of a space as a bundle contains it, plus the columns that the store adds. */
export type ImportedSpace = Omit<SpaceRow, 'key' | 'deleted_at'>

/** The space with this id, of any tenant, deleted ones included: search indexes identify spaces by id alone. */
export function* findSpaceOfAnyTenant(id: string): Read<{ tenant: string; isDeleted: number } | undefined> {
  return yield* sql.get<{ tenant: string; isDeleted: number }>(
    'SELECT tenant, deleted_at IS NOT NULL isDeleted FROM spaces WHERE id = ? LIMIT 1',
    [id],
  )
}

/** Inserts the row of a space that is being imported. @returns its key */
export function* beginImport(space: ImportedSpace, gateway: string): Write<number> {
  return yield* sql.inserted(
    `INSERT INTO spaces (tenant, id, name, slug, description, created_at, updated_at, deleted_at, imported_by, manifest_id,
       manifest_version, manifest, embedding_plugin, embedding_provider, embedding_model, embedding_revision, vector_space,
       dimension, frozen_at, head_revision, publication_id, fingerprint, published_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING key`,
    [
      space.tenant,
      space.id,
      space.name,
      space.slug,
      space.description,
      space.created_at,
      space.updated_at,
      yield* readClock(),
      gateway,
      space.manifest_id,
      space.manifest_version,
      space.manifest,
      space.embedding_plugin,
      space.embedding_provider,
      space.embedding_model,
      space.embedding_revision,
      space.vector_space,
      space.dimension,
      space.frozen_at,
      space.head_revision,
      space.publication_id,
      space.fingerprint,
      space.published_at,
    ],
  )
}

/** Whether a gateway still has the claim on its import: a gateway that was taken for dead must not write any more. */
export function* hasImportClaim(spaceKey: number, gateway: string): Read<boolean> {
  return yield* sql.exists('SELECT 1 one FROM spaces WHERE key = ? AND imported_by = ? AND deleted_at IS NOT NULL', [
    spaceKey,
    gateway,
  ])
}

/** Makes an imported space visible, inside the caller's transaction. @returns whether it still existed */
export function* revealImport(spaceKey: number, gateway: string): Write<boolean> {
  const { changes } = yield* sql.run(
    'UPDATE spaces SET deleted_at = NULL, imported_by = NULL WHERE key = ? AND imported_by = ? AND deleted_at IS NOT NULL',
    [spaceKey, gateway],
  )
  return changes === 1
}

/** marks a space for immediate purge: no reader has ever seen it */
const PURGE_AT_ONCE = 'imported_by = NULL, deleted_at = 0'

/** Releases a failed import to the purge. */
export function* abandonImport(spaceKey: number, gateway: string): Write<void> {
  yield* sql.run(`UPDATE spaces SET ${PURGE_AT_ONCE} WHERE key = ? AND imported_by = ?`, [spaceKey, gateway])
}

/** Releases all imports of lost gateways to the purge. @returns their number */
export function* abandonOrphanedImports(): Write<number> {
  return (yield* sql.run(
    `UPDATE spaces SET ${PURGE_AT_ONCE} WHERE imported_by IS NOT NULL AND imported_by NOT IN (SELECT id FROM gateways)`,
  )).changes
}

/** Marks as due the missing vectors of the current versions of an imported space. */
export function* markImportedVectorsDue(spaceKey: number, vectorSpace: number | undefined): Write<void> {
  yield* sql.run(
    `INSERT INTO vectors_due (version_key, space_key, due)
     SELECT v.key, v.space_key, count(*) - count(x.node_key) FROM versions v
       JOIN nodes n ON n.version_key = v.key
       LEFT JOIN vectors x ON x.vector_space = ? AND x.node_key = n.key
     WHERE v.space_key = ? AND v.until_revision IS NULL
     GROUP BY v.key, v.space_key HAVING count(*) > count(x.node_key)`,
    [vectorSpace ?? -1, spaceKey],
  )
}
