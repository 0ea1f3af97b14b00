import { bundlesRoutes } from './bundles.js'
import { changesRoutes } from './changes.js'
import { conflictsRoutes } from './conflicts.js'
import { documentsRoutes } from './documents.js'
import { explainRoutes } from './explain.js'
import { fsRoutes } from './fs.js'
import { graphRoutes } from './graph.js'
import { integrityRoutes } from './integrity.js'
import { jobsRoutes } from './jobs.js'
import { localFilesRoutes } from './local-files.js'
import { qualityRoutes } from './quality.js'
import { queriesRoutes } from './queries.js'
import { researchRoutes } from './research.js'
import { retentionRoutes } from './retention.js'
import { searchRoutes } from './search.js'
import { severalSpacesRoutes } from './several-spaces.js'
import { snapshotsRoutes } from './snapshots.js'
import { sourcesRoutes } from './sources.js'
import { spacesRoutes } from './spaces.js'
import { systemRoutes } from './system.js'

/** All operations of the gateway in this version, in the order of the API document. */
export const gatewayRoutes = [
  ...spacesRoutes,
  ...documentsRoutes,
  ...jobsRoutes,
  ...queriesRoutes,
  ...qualityRoutes,
  ...explainRoutes,
  ...searchRoutes,
  ...severalSpacesRoutes,
  ...sourcesRoutes,
  ...graphRoutes,
  ...conflictsRoutes,
  ...researchRoutes,
  ...integrityRoutes,
  ...systemRoutes,
  ...changesRoutes,
  ...retentionRoutes,
  ...fsRoutes,
  ...snapshotsRoutes,
  ...localFilesRoutes,
  ...bundlesRoutes,
] as const

export type GatewayRoute = (typeof gatewayRoutes)[number]
