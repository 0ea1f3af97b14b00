import { type Read, sql } from '../program.js'

/** Number of compilations and research tasks of one tenant that have not ended. */
export function* countTenantJobs(tenant: string): Read<{ activeJobs: number; waitingJobs: number }> {
  const counts = yield* sql.get<{ active: number; all_open: number }>(
    `SELECT count(*) FILTER (WHERE isActive) active, count(*) all_open FROM (
       SELECT claimed_by IS NOT NULL isActive FROM jobs WHERE completed_at IS NULL AND tenant = ?
       UNION ALL
       SELECT stage <> 'queued' isActive FROM research_tasks WHERE completed_at IS NULL AND tenant = ?)`,
    [tenant, tenant],
  )
  const active = counts?.active ?? 0
  return { activeJobs: active, waitingJobs: (counts?.all_open ?? 0) - active }
}
