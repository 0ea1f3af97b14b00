import type { gatewayRoutes } from '../../contract/gateway/routes.js'
import type { HandlerDeps, RouteHandlers } from '../operation.js'
import { bundlesHandlers } from './bundles.js'
import { changesHandlers } from './changes.js'
import { conflictsHandlers } from './conflicts.js'
import { documentsHandlers } from './documents.js'
import { explainHandlers, searchHandlers } from './explain.js'
import { fsHandlers } from './fs.js'
import { graphHandlers } from './graph.js'
import { integrityHandlers } from './integrity.js'
import { jobsHandlers } from './jobs.js'
import { localFilesHandlers } from './local-files.js'
import { qualityHandlers } from './quality.js'
import { queriesHandlers } from './queries.js'
import { researchHandlers } from './research.js'
import { retentionHandlers } from './retention.js'
import { snapshotsHandlers } from './snapshots.js'
import { sourcesHandlers } from './sources.js'
import { spacesHandlers } from './spaces.js'
import { systemHandlers } from './system.js'

/** The handler of every gateway route, by its id. A route without one does not compile. */
export function gatewayHandlers(deps: HandlerDeps) {
  return {
    ...spacesHandlers(deps),
    ...documentsHandlers(deps),
    ...jobsHandlers(deps),
    ...graphHandlers(deps),
    ...integrityHandlers(deps),
    ...queriesHandlers(deps),
    ...qualityHandlers(deps),
    ...conflictsHandlers(deps),
    ...explainHandlers(deps),
    ...searchHandlers(deps),
    ...sourcesHandlers(deps),
    ...researchHandlers(deps),
    ...systemHandlers(deps),
    ...changesHandlers(deps),
    ...retentionHandlers(deps),
    ...fsHandlers(deps),
    ...snapshotsHandlers(deps),
    ...localFilesHandlers(deps),
    ...bundlesHandlers(deps),
  } satisfies RouteHandlers<typeof gatewayRoutes>
}
