import { type Read, sql, type Write } from '../../storage/program.js'
import type { SpaceRow } from '../spaces.js'

/*
 * A space that is being imported has the row of a deleted space, so that nobody sees it, which its gateway holds: the purge
 * leaves it alone. Where the import fails, or its gateway dies, the row is let go, and is purged like any other.
 */

/** A space's own row, as a bundle has it, and what the store adds. */
export type ImportedSpace = Omit<SpaceRow, 'key' | 'deleted_at'>

/** Whether any tenant has, or had and is still losing, a space with this id: the indexes know spaces by their ids alone. */
export function* spaceWithId(id: string): Read<{ tenant: string; isDeleted: number } | undefined> {
  return yield* sql.get<{ tenant: string; isDeleted: number }>(
    'SELECT tenant, deleted_at IS NOT NULL isDeleted FROM spaces WHERE id = ? LIMIT 1',
    [id],
  )
}

/** Makes the row of a space that is being imported. @returns its key */
export function* beginImport(space: ImportedSpace, gateway: string, now: number): Write<number> {
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
      now,
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

/** Whether a gateway still holds what it imports: who was taken for dead writes nothing any more. */
export function* holdsImport(spaceKey: number, gateway: string): Read<boolean> {
  return (
    (yield* sql.get('SELECT 1 one FROM spaces WHERE key = ? AND imported_by = ? AND deleted_at IS NOT NULL', [
      spaceKey,
      gateway,
    ])) !== undefined
  )
}

/** Shows what was imported, inside the caller's transaction. @returns whether it was still there */
export function* showImported(spaceKey: number, gateway: string): Write<boolean> {
  const { changes } = yield* sql.run(
    'UPDATE spaces SET deleted_at = NULL, imported_by = NULL WHERE key = ? AND imported_by = ? AND deleted_at IS NOT NULL',
    [spaceKey, gateway],
  )
  return changes === 1
}

/** a deletion that waits for no question: nobody has ever seen such a space */
const NEVER_SEEN = 'imported_by = NULL, deleted_at = 0'

/** Leaves what was imported so far to the purge. */
export function* dropImport(spaceKey: number, gateway: string): Write<void> {
  yield* sql.run(`UPDATE spaces SET ${NEVER_SEEN} WHERE key = ? AND imported_by = ?`, [spaceKey, gateway])
}

/** The same of all imports of gateways that are gone. @returns how many there were */
export function* dropLeftImports(): Write<number> {
  return (yield* sql.run(
    `UPDATE spaces SET ${NEVER_SEEN} WHERE imported_by IS NOT NULL AND imported_by NOT IN (SELECT id FROM gateways)`,
  )).changes
}

/** Notes what a provider owes of an imported space: passages of its current versions that came without a vector. */
export function* oweImported(spaceKey: number, vectorSpace: number | undefined): Write<void> {
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
