import type { Caller } from '../../base/caller.js'
import { type Read, sql } from '../../store/program.js'
import { sqlCanRead, toReaderParameter } from '../../store/rows/permissions.js'

/** The columns of `sessions` that a status shows. */
export interface StatusSessionRow {
  id: string
  subject: string
  client_kind: 'api' | 'mcp' | 'worker' | 'admin'
  heartbeat_at: number
  expires_at: number
}

export function* listLiveSessions(spaceKey: number, now: number, limit: number): Read<StatusSessionRow[]> {
  return yield* sql.all<StatusSessionRow>(
    'SELECT * FROM sessions WHERE space_key = ? AND expires_at > ? ORDER BY id LIMIT ?',
    [spaceKey, now, limit],
  )
}

export interface FailedCommitRow {
  id: string
  status: 'failed-retryable' | 'failed-terminal'
  error_code: string | null
  expires_at: number | null
  updated_at: number
}

/** Number of failed commits by status, of those that changed since a time. */
export function* countFailedCommits(caller: Caller, spaceKey: number, since: number): Read<Map<string, number>> {
  const rows = yield* sql.all<{ status: string; n: number }>(
    `SELECT status, count(*) n FROM staged_commits WHERE space_key = ? AND status IN ('failed-retryable', 'failed-terminal')
       AND updated_at >= ? AND ${sqlCanRead('staged_commits.source_id')} GROUP BY status`,
    [spaceKey, since, toReaderParameter(caller)],
  )
  return new Map(rows.map(({ status, n }) => [status, n]))
}

export function* listFailedCommits(caller: Caller, spaceKey: number, limit: number): Read<FailedCommitRow[]> {
  return yield* sql.all<FailedCommitRow>(
    `SELECT id, status, error_code, expires_at, updated_at FROM staged_commits INDEXED BY staged_commits_space WHERE space_key = ?
       AND status IN ('failed-retryable', 'failed-terminal') AND ${sqlCanRead('staged_commits.source_id')} ORDER BY id LIMIT ?`,
    [spaceKey, toReaderParameter(caller), limit],
  )
}

/** Documents of a space with published passages that have no vector yet, except those of some sources. */
export function* listDocumentsWithoutVectors(
  spaceKey: number,
  deniedSources: readonly string[],
  limit: number,
): Read<{ id: string; filename: string; due: number; refused: number }[]> {
  return yield* sql.all<{ id: string; filename: string; due: number; refused: number }>(
    `SELECT documents.id, documents.filename, due, refused FROM vectors_due
     CROSS JOIN versions INDEXED BY versions_at ON versions.key = vectors_due.version_key
     CROSS JOIN documents ON documents.key = (SELECT doc_key FROM versions own WHERE own.key = vectors_due.version_key)
     WHERE vectors_due.space_key = ? AND versions.from_revision IS NOT NULL AND versions.until_revision IS NULL
       AND (documents.source_id IS NULL OR documents.source_id NOT IN (SELECT value FROM json_each(?)))
     ORDER BY vectors_due.version_key LIMIT ?`,
    [spaceKey, JSON.stringify(deniedSources), limit],
  )
}

/** Number of such documents of all sources. */
export function* countDocumentsWithoutVectors(spaceKey: number): Read<number> {
  return yield* sql.count(
    `SELECT count(*) n FROM vectors_due CROSS JOIN versions INDEXED BY versions_at ON versions.key = vectors_due.version_key
       WHERE vectors_due.space_key = ? AND versions.from_revision IS NOT NULL AND versions.until_revision IS NULL`,
    [spaceKey],
  )
}
