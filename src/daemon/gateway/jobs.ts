import type { jobsRoutes } from '../../contract/gateway/jobs.js'
import type { HandlerDeps, RouteHandlers } from '../operation.js'

export function jobsHandlers({ engine: { jobs } }: HandlerDeps) {
  return {
    getJob: ({ caller, params }) => jobs.get(caller, params.id),
    cancelJob: ({ caller, params }) => jobs.cancel(caller, params.id),
    listJobs: ({ caller, params, query }) => jobs.list(caller, params.id, query),
    retryJob: ({ caller, params }) => jobs.retry(caller, params.id),
    retryFailedJobs: ({ caller, params }) => jobs.retryFailed(caller, params.id),
    getBulkJob: ({ caller, params }) => jobs.bulk(caller, params.id),
  } satisfies RouteHandlers<typeof jobsRoutes>
}
