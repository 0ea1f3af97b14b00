import type { StagedCommit, StagedCommitStatus } from '../../contract/gateway/integrity.js'
import { LIMITS } from '../../contract/limits.js'
import { defined } from '../../lib/defined.js'
import type { Page, PageRequest } from '../base/page.js'
import { askerOf, mayKnow, type Reader } from '../rows/permissions.js'
import type { SpaceRow } from '../rows/spaces.js'
import type { Bindable } from '../storage/program.js'
import { type Read, sql } from '../storage/program.js'
import { readablePage } from '../storage/readable.js'

interface CommitRow {
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

/** Staged commits of a space that are there for a reader, oldest first. */
export function* listCommits(
  reader: Reader,
  space: SpaceRow,
  page: PageRequest & { status?: StagedCommitStatus | undefined },
): Read<Page<StagedCommit>> {
  const limit = Math.min(page.limit, LIMITS.page.cap)
  const place: Bindable[] = [space.key, page.cursor ?? '']
  const rows =
    page.status === undefined
      ? yield* sql.all<CommitRow>(
          `SELECT * FROM staged_commits INDEXED BY staged_commits_listed WHERE space_key = ? AND id > ?
             AND ${mayKnow('staged_commits.source_id')} ORDER BY id LIMIT ?`,
          [...place, askerOf(reader), limit + 1],
        )
      : yield* sql.all<CommitRow>(
          `SELECT * FROM staged_commits WHERE space_key = ? AND id > ? AND status = ?
             AND ${mayKnow('staged_commits.source_id')} ORDER BY id LIMIT ?`,
          [...place, page.status, askerOf(reader), limit + 1],
        )
  return readablePage(
    rows,
    limit,
    (row) => toCommit(row, space),
    ({ id }) => id,
  )
}

function toCommit(row: CommitRow, space: SpaceRow): StagedCommit {
  return {
    id: row.id,
    knowledgeSpaceId: space.id,
    tenantId: row.tenant,
    idempotencyKey: row.idempotency_key,
    operationType: row.operation_type,
    status: row.status,
    ...defined({
      documentAssetId: row.document_id ?? undefined,
      parseArtifactId: row.artifact_id ?? undefined,
      rawObjectKey: row.raw_object_key ?? undefined,
      publishedObjectKey: row.published_object_key ?? undefined,
      projectionFingerprint: row.fingerprint ?? undefined,
      checksum: row.checksum ?? undefined,
      sizeBytes: row.size_bytes ?? undefined,
      errorCode: row.error_code ?? undefined,
      errorMessage: row.error_message ?? undefined,
    }),
    ...(row.expires_at === null ? {} : { expiresAt: new Date(row.expires_at).toISOString() }),
    createdAt: new Date(row.created_at).toISOString(),
    updatedAt: new Date(row.updated_at).toISOString(),
  }
}
