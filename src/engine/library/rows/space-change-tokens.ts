import { type Read, sql } from '../../store/program.js'

/** A token per space of a tenant that changes whenever the space's documents or workspace files change. */
export function* listSpaceChangeTokens(tenant: string): Read<Map<string, string>> {
  const rows = yield* sql.all<{ id: string; head_revision: number; seq: number }>(
    `SELECT spaces.id, spaces.head_revision, coalesce(workspace_changes.seq, 0) seq
     FROM spaces LEFT JOIN workspace_changes ON workspace_changes.space_key = spaces.key
     WHERE spaces.tenant = ? AND spaces.deleted_at IS NULL`,
    [tenant],
  )
  return new Map(rows.map(({ id, head_revision, seq }) => [id, `${head_revision}.${seq}`]))
}
