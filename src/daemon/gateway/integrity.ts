import type { integrityRoutes } from '../../contract/gateway/integrity.js'
import type { HandlerDeps, RouteHandlers } from '../operation.js'

export function integrityHandlers({ engine: { integrity } }: HandlerDeps) {
  return {
    fsck: ({ caller, params, query }) => integrity.fsck(caller, params.id, { ...query, deep: query.deep === 'true' }),
    fsckRepair: ({ caller, params, body }) => integrity.repair(caller, params.id, body),
    gcDryRun: ({ caller, params, query }) => integrity.gcDryRun(caller, params.id, query),
    gcExecute: ({ caller, params, body }) => integrity.gcExecute(caller, params.id, body.candidates),
    listStagedCommits: ({ caller, params, query }) => integrity.commits(caller, params.id, query),
    listActiveLeases: ({ caller, params, query }) => integrity.leases(caller, params.id, query),
  } satisfies RouteHandlers<typeof integrityRoutes>
}
