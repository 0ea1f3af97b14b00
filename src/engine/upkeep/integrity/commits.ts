import type { StagedCommit, StagedCommitStatus } from '../../../contract/gateway/integrity.js'
import { LIMITS } from '../../../contract/limits.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { Page, PageRequest } from '../../base/page.js'
import type { Read } from '../../store/program.js'
import { readablePage } from '../../store/readable.js'
import type { Reader } from '../../store/rows/permissions.js'
import type { SpaceRow } from '../../store/rows/spaces.js'
import { type CommitRow, listCommitsAfter } from '../rows/integrity/commits.js'

/** Staged commits of a space that a reader may see, oldest first. */
export function* listCommits(
  reader: Reader,
  space: SpaceRow,
  page: PageRequest & { status?: StagedCommitStatus | undefined },
): Read<Page<StagedCommit>> {
  const limit = Math.min(page.limit, LIMITS.page.cap)
  const filter = { after: page.cursor ?? '', status: page.status }
  const rows = yield* listCommitsAfter(reader, space.key, filter, limit + 1)
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
    ...omitUndefined({
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
