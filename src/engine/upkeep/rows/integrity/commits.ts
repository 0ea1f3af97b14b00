import type { StagedCommit, StagedCommitStatus } from '../../../../contract/gateway/integrity.js'
import { type Bindable, type Read, sql } from '../../../store/program.js'
import { type Reader, sqlCanRead, toReaderParameter } from '../../../store/rows/permissions.js'

/** A row of `staged_commits`. */
export interface CommitRow {
  id: string
  tenant: string
  idempotency_key: string
  operation_type: StagedCommit['operationType']
  status: StagedCommitStatus
  document_id: string | null
  artifact_id: string | null
  raw_object_key: string | null
  published_object_key: string | null
  fingerprint: string | null
  checksum: string | null
  size_bytes: number | null
  error_code: string | null
  error_message: string | null
  expires_at: number | null
  created_at: number
  updated_at: number
}

/** Staged commits of a space that the reader may read, oldest first; of one status if it is given. */
export function* listCommitsAfter(
  reader: Reader,
  spaceKey: number,
  { after, status }: { after: string; status: StagedCommitStatus | undefined },
  limit: number,
): Read<CommitRow[]> {
  const parameters: Bindable[] = [spaceKey, after]
  return status === undefined
    ? yield* sql.all<CommitRow>(
        `SELECT * FROM staged_commits INDEXED BY staged_commits_listed WHERE space_key = ? AND id > ?
             AND ${sqlCanRead('staged_commits.source_id')} ORDER BY id LIMIT ?`,
        [...parameters, toReaderParameter(reader), limit],
      )
    : yield* sql.all<CommitRow>(
        `SELECT * FROM staged_commits WHERE space_key = ? AND id > ? AND status = ?
             AND ${sqlCanRead('staged_commits.source_id')} ORDER BY id LIMIT ?`,
        [...parameters, status, toReaderParameter(reader), limit],
      )
}

/** number of ids that differ in their last digit only */
const SIBLING_COUNT = 16

export interface CollectableCommit {
  id: string
  status: 'failed-retryable' | 'failed-terminal' | 'canceled' | 'gc-pending'
  document_id: string | null
  published_object_key: string | null
  updated_at: number
}

/**
 * Failed commits past their expiry, and those whose collection was interrupted. A job that will be retried keeps its
 * commit.
 */
export function* listCollectableCommits(
  spaceKey: number,
  after: string,
  now: number,
  limit: number,
): Read<CollectableCommit[]> {
  return yield* sql.allAsStored<CollectableCommit>(
    `SELECT id, status, document_id, published_object_key, updated_at FROM staged_commits INDEXED BY staged_commits_listed
     WHERE space_key = ? AND id > ? AND (status = 'gc-pending'
       OR status IN ('failed-terminal', 'canceled') AND coalesce(expires_at, updated_at) < ?
       OR status = 'failed-retryable' AND expires_at < ?
          AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.id = staged_commits.job_id AND completed_at IS NULL))
     ORDER BY id LIMIT ?`,
    [spaceKey, after, now, now, limit],
  )
}

/** The collectable commit with this id. */
export function* findCollectableCommit(spaceKey: number, id: string, now: number): Read<CollectableCommit | undefined> {
  // sorts just before the id
  const before = id.slice(0, -1)
  return (yield* listCollectableCommits(spaceKey, before, now, SIBLING_COUNT)).find((row) => row.id === id)
}

/** Whether an upload of the space has ended; false if it has no row. */
export function* isEndedUpload(spaceKey: number, id: string): Read<boolean> {
  const row = yield* sql.get<{ status: string }>('SELECT status FROM staged_commits WHERE id = ? AND space_key = ?', [
    id,
    spaceKey,
  ])
  return row !== undefined && !['received', 'object-staged', 'object-verified'].includes(row.status)
}
