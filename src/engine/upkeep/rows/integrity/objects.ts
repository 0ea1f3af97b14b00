import { type Read, sql } from '../../../store/program.js'
import type { SpaceRow } from '../../../store/rows/spaces.js'

/** Location of stored bytes, and their hash and size at upload. */
export interface UploadedBytes {
  id: string
  name: string
  object_key: string
  sha256: string
  size_bytes: number
}

/** The bytes of a space's documents, by id. */
export function* listDocumentBytes(spaceKey: number, after: string, limit: number): Read<UploadedBytes[]> {
  return yield* sql.allAsStored<UploadedBytes>(
    `SELECT id, filename name, object_key, sha256, size_bytes FROM documents
     WHERE space_key = ? AND id > ? AND deleted_at IS NULL ORDER BY id LIMIT ?`,
    [spaceKey, after, limit],
  )
}

export function* hasDocument(spaceKey: number, id: string): Read<boolean> {
  return yield* sql.exists('SELECT 1 one FROM documents WHERE space_key = ? AND id = ? AND deleted_at IS NULL', [
    spaceKey,
    id,
  ])
}

/** The bytes of files in a tenant's chats, by id. */
export function* listChatFileBytes(tenant: string, after: string, limit: number): Read<UploadedBytes[]> {
  return yield* sql.allAsStored<UploadedBytes>(
    `SELECT id, name, object_key, sha256, size_bytes FROM chat_files
     WHERE tenant = ? AND id > ? AND ready = 1 ORDER BY id LIMIT ?`,
    [tenant, after, limit],
  )
}

export function* hasChatFile(tenant: string, id: string): Read<boolean> {
  return yield* sql.exists('SELECT id FROM chat_files WHERE tenant = ? AND id = ?', [tenant, id])
}

/** The bytes of a file that an agent wrote. */
export interface WrittenBytes {
  key: number
  id: string
  path: string
  object_key: string
  sha256: string
  size_bytes: number
}

/** The bytes of the current files in a space's workspaces, by key. */
export function* listWorkspaceFileBytes(spaceKey: number, after: number, limit: number): Read<WrittenBytes[]> {
  return yield* sql.allAsStored<WrittenBytes>(
    `SELECT key, id, '/workspaces/' || replace(folder, char(1), '/') || base path, object_key, sha256, size_bytes
     FROM workspace_files WHERE space_key = ? AND key > ? AND until_seq IS NULL ORDER BY key LIMIT ?`,
    [spaceKey, after, limit],
  )
}

export function* hasWorkspaceFile(key: number): Read<boolean> {
  return yield* sql.exists('SELECT 1 one FROM workspace_files WHERE key = ? AND removed = 0', [key])
}

/** The bytes of the files in a space's snapshots, by key. */
export function* listSnapshotFileBytes(spaceKey: number, after: number, limit: number): Read<WrittenBytes[]> {
  return yield* sql.allAsStored<WrittenBytes>(
    `SELECT key, snapshot_id id, path, object_key, sha256, size_bytes FROM snapshot_files
     WHERE space_key = ? AND key > ? ORDER BY key LIMIT ?`,
    [spaceKey, after, limit],
  )
}

export function* hasSnapshotFile(key: number): Read<boolean> {
  return yield* sql.exists('SELECT 1 one FROM snapshot_files WHERE key = ?', [key])
}

/**
 * Whether a space is the one of its tenant that reports an unreferenced object: the space of the last upload that
 * brought the object, else the tenant's oldest space.
 */
export function* isReportedBy(space: Pick<SpaceRow, 'key' | 'tenant'>, objectKey: string): Read<boolean> {
  const row = yield* sql.get<{ key: number }>(
    `SELECT coalesce(
       (SELECT space_key FROM staged_commits JOIN spaces ON spaces.key = space_key
        WHERE published_object_key = ? AND spaces.tenant = ? AND spaces.deleted_at IS NULL
        ORDER BY staged_commits.id DESC LIMIT 1),
       (SELECT key FROM spaces WHERE tenant = ? AND deleted_at IS NULL ORDER BY id LIMIT 1)) key`,
    [objectKey, space.tenant, space.tenant],
  )
  return row?.key === space.key
}
