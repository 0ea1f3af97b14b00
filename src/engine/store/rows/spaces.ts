import { notFoundError } from '../../../contract/errors.js'
import type { KnowledgeSpace } from '../../../contract/gateway/spaces.js'
import { isUuid } from '../../../lib/ids.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import { type Read, sql } from '../program.js'

/** A row of `spaces`. */
export interface SpaceRow {
  key: number
  id: string
  tenant: string
  name: string
  slug: string
  description: string | null
  created_at: number
  updated_at: number
  deleted_at: number | null
  manifest_id: string
  manifest_version: number
  /** JSON: the policies of the manifest */
  manifest: string
  embedding_plugin: string
  embedding_provider: string
  embedding_model: string
  embedding_revision: number
  vector_space: string
  dimension: number | null
  frozen_at: number | null
  head_revision: number
  publication_id: string
  fingerprint: string
  published_at: number
}

/** The space of a tenant. @throws KsError `not-found`, also for another tenant's space and a deleted one */
export function* findSpace(tenant: string, id: string): Read<SpaceRow> {
  const row = yield* findSpaceOrDeleting(tenant, id)
  if (row === undefined || row.deleted_at !== null) throw notFoundError('knowledge space', id)
  return row
}

/** Like `findSpace`, but also returns a deleted space before its purge has ended. */
export function* findSpaceOrDeleting(tenant: string, id: string): Read<SpaceRow | undefined> {
  if (!isUuid(id)) return undefined
  return yield* sql.get<SpaceRow>('SELECT * FROM spaces WHERE tenant = ? AND id = ?', [tenant, id])
}

/** Additional columns that a query needs of a space. */
interface SpaceHeadColumns {
  /** newest entry of its index log */
  log_seq: number
  /** nodes of versions that are current or being built */
  nodes: number
  /** bytes of traces with their questions, steps and bundles */
  trace_bytes: number
  /** current retrieval profile; null if there is none */
  profile_revision: number | null
  profile_body: string | null
}

/** A space with its query columns; `log_seq` is 0 if nothing was ever indexed. */
export function* findSpaceWithHead(tenant: string, id: string): Read<(SpaceRow & SpaceHeadColumns) | undefined> {
  if (!isUuid(id)) return undefined
  return yield* sql.get(
    `SELECT spaces.*, coalesce((SELECT seq FROM space_counters WHERE space_key = spaces.key), 0) log_seq,
       coalesce(space_usage.node_count, 0) nodes, coalesce(space_usage.trace_bytes, 0) trace_bytes,
       profile.revision profile_revision, profile.body profile_body
     FROM spaces LEFT JOIN space_usage ON space_usage.space_key = spaces.key
     LEFT JOIN retrieval_profiles profile ON profile.space_key = spaces.key
     WHERE spaces.tenant = ? AND spaces.id = ?`,
    [tenant, id],
  )
}

export function* findSpaceByKey(key: number): Read<SpaceRow | undefined> {
  return yield* sql.get<SpaceRow>('SELECT * FROM spaces WHERE key = ? AND deleted_at IS NULL', [key])
}

/** Like `findSpaceByKey`, but also returns a deleted space before its purge has ended. */
export function* findSpaceByKeyOrDeleting(key: number): Read<SpaceRow | undefined> {
  return yield* sql.get<SpaceRow>('SELECT * FROM spaces WHERE key = ?', [key])
}

/** Keys of all spaces that are not deleted. */
export function* listSpaceKeys(): Read<number[]> {
  return (yield* sql.all<{ key: number }>('SELECT key FROM spaces WHERE deleted_at IS NULL')).map(({ key }) => key)
}

export function toSpace(row: SpaceRow): KnowledgeSpace {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    ...omitUndefined({ description: row.description ?? undefined }),
    tenantId: row.tenant,
    createdAt: new Date(row.created_at).toISOString(),
    updatedAt: new Date(row.updated_at).toISOString(),
  }
}

/** The tenant of a space, deleted ones included. @param space its row key, or its id */
export function* findTenantOfSpace(space: number | string): Read<string | undefined> {
  const text =
    typeof space === 'number' ? 'SELECT tenant FROM spaces WHERE key = ?' : 'SELECT tenant FROM spaces WHERE id = ?'
  return (yield* sql.get<{ tenant: string }>(text, [space]))?.tenant
}
