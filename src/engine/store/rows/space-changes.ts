import { newId } from '../../../lib/ids.js'
import type { ModelReference } from '../../base/model-reference.js'
import { type Read, readClock, sql, type Write } from '../program.js'
import type { SpaceRow } from './spaces.js'

/** Number of spaces of a tenant, without deleted ones. */
export function* countSpaces(tenant: string): Read<number> {
  return yield* sql.count('SELECT count(*) n FROM spaces WHERE tenant = ? AND deleted_at IS NULL', [tenant])
}

/** Spaces of a tenant by id. */
export function* listSpacesAfter(tenant: string, after: string, limit: number): Read<SpaceRow[]> {
  return yield* sql.all<SpaceRow>(
    'SELECT * FROM spaces WHERE tenant = ? AND deleted_at IS NULL AND id > ? ORDER BY id LIMIT ?',
    [tenant, after, limit],
  )
}

/** Spaces of a tenant, the last published first. */
export function* listLastPublishedSpaces(tenant: string, limit: number): Read<SpaceRow[]> {
  return yield* sql.all<SpaceRow>(
    'SELECT * FROM spaces WHERE tenant = ? AND deleted_at IS NULL ORDER BY published_at DESC, id LIMIT ?',
    [tenant, limit],
  )
}

/** The space of a tenant with a slug. */
export function* findSpaceBySlug(tenant: string, slug: string): Read<{ key: number; id: string } | undefined> {
  return yield* sql.get<{ key: number; id: string }>(
    'SELECT key, id FROM spaces WHERE tenant = ? AND slug = ? AND deleted_at IS NULL',
    [tenant, slug],
  )
}

interface NewSpace {
  id: string
  tenant: string
  name: string
  slug: string
  description: string | undefined
  policies: object
  model: ModelReference
}

/** Inserts a space with its first, empty publication. */
export function* insertSpace({ id, tenant, name, slug, description, policies, model }: NewSpace): Write<void> {
  const now = yield* readClock()
  const key = yield* sql.inserted(
    `INSERT INTO spaces (id, tenant, name, slug, description, created_at, updated_at, manifest_id, manifest,
         embedding_plugin, embedding_provider, embedding_model, vector_space, publication_id, fingerprint, published_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING key`,
    [
      id,
      tenant,
      name,
      slug,
      description ?? null,
      now,
      now,
      newId(),
      JSON.stringify(policies),
      model.pluginId,
      model.provider,
      model.model,
      newId(),
      newId(),
      'empty',
      now,
    ],
  )
  yield* sql.run(
    `INSERT INTO publications (tenant, id, space_key, revision, fingerprint, created_at)
     SELECT tenant, publication_id, key, 0, fingerprint, ? FROM spaces WHERE key = ?`,
    [now, key],
  )
}

/** Updates the name, slug and description of a space. */
export function* renameSpace({
  key,
  name,
  slug,
  description,
}: Pick<SpaceRow, 'key' | 'name' | 'slug' | 'description'>): Write<void> {
  yield* sql.run('UPDATE spaces SET name = ?, slug = ?, description = ?, updated_at = ? WHERE key = ?', [
    name,
    slug,
    description,
    yield* readClock(),
    key,
  ])
}

/** Hides a space from every read and cancels its jobs. */
export function* hideSpace(key: number): Write<void> {
  const now = yield* readClock()
  yield* sql.run('UPDATE spaces SET deleted_at = ?, updated_at = ? WHERE key = ? AND deleted_at IS NULL', [
    now,
    now,
    key,
  ])
  yield* sql.run(
    "UPDATE jobs SET stage = 'canceled', updated_at = ?, completed_at = ? WHERE space_key = ? AND completed_at IS NULL",
    [now, now, key],
  )
}

/** Whether a space has any document row, deleted ones included. */
export function* hasDocuments(key: number): Read<boolean> {
  return yield* sql.exists('SELECT 1 one FROM documents WHERE space_key = ? LIMIT 1', [key])
}

/** Sets another embedding model, with a new vector space, unless the space's model is frozen. */
export function* setEmbeddingModel(key: number, model: ModelReference): Write<void> {
  yield* sql.run(
    `UPDATE spaces SET embedding_plugin = ?, embedding_provider = ?, embedding_model = ?, vector_space = ?, dimension = NULL,
         embedding_revision = embedding_revision + 1, manifest_version = manifest_version + 1, updated_at = ?
       WHERE key = ? AND frozen_at IS NULL`,
    [model.pluginId, model.provider, model.model, newId(), yield* readClock(), key],
  )
}

/** Freezes the embedding model, from the first document on: only a migration changes it then. */
export function* freezeEmbeddingModel(key: number): Write<void> {
  yield* sql.run('UPDATE spaces SET frozen_at = ? WHERE key = ? AND frozen_at IS NULL', [yield* readClock(), key])
}
