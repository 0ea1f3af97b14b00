import { chatAppRoutes } from '../../contract/chat/apps.js'
import { gatewayRoutes } from '../../contract/gateway/routes.js'
import type { Engine } from '../../engine/api.js'
import {
  type AnyHandler,
  type EngineOperations,
  type HandlerDeps,
  type RouteHandlers,
  toHandlers,
} from '../operation.js'
import { bundlesHandlers } from './bundles.js'
import { changesHandlers } from './changes.js'
import { documentsHandlers } from './documents.js'
import { integrityHandlers } from './integrity.js'
import { localFilesHandlers } from './local-files.js'
import { qualityHandlers } from './quality.js'
import { queriesHandlers } from './queries.js'
import { researchHandlers } from './research.js'
import { systemHandlers } from './system.js'

/** All routes of the gateway, including those for chat applications. */
export const daemonRoutes = [...gatewayRoutes, ...chatAppRoutes] as const

/** The handler of every gateway route, by its id. A route without one does not compile. */
export function gatewayHandlers(deps: HandlerDeps): Readonly<Record<string, AnyHandler>> {
  return { ...toHandlers(daemonRoutes, engineOperations(deps.engine)), ...ownHandlers(deps) }
}

/** Handlers of routes that need more than an operation of the engine: streams, uploads, state of the daemon. */
function ownHandlers(deps: HandlerDeps) {
  return {
    ...documentsHandlers(deps),
    ...queriesHandlers(deps),
    ...qualityHandlers(deps),
    ...researchHandlers(deps),
    ...systemHandlers(deps),
    ...changesHandlers(deps),
    ...integrityHandlers(deps),
    ...localFilesHandlers(deps),
    ...bundlesHandlers(deps),
  } satisfies Partial<RouteHandlers<typeof daemonRoutes>>
}

type ForwardedOperations = Omit<EngineOperations<typeof daemonRoutes>, keyof ReturnType<typeof ownHandlers>>

/** The operation of the engine that a route names; {@link toHandlers} passes the request to it. */
function engineOperations(engine: Engine): ForwardedOperations {
  const { spaces, documents, jobs, queries, quality, research, sources, graph, integrity, retention, fs } = engine
  const { snapshots } = engine
  const { golden, runs, failed } = quality
  const { readings } = graph
  const { apps } = engine.chat
  return {
    createKnowledgeSpace: spaces.create,
    listKnowledgeSpaces: spaces.list,
    getKnowledgeSpace: spaces.get,
    updateKnowledgeSpace: spaces.update,
    deleteKnowledgeSpace: spaces.delete,
    getKnowledgeSpaceManifest: spaces.manifest,
    setEmbeddingProfile: spaces.setEmbeddingProfile,
    startEmbeddingMigration: spaces.startMigration,
    getEmbeddingMigration: spaces.migration,
    cancelEmbeddingMigration: spaces.cancelMigration,
    getKnowledgeSpaceStatus: spaces.status,
    getKnowledgeSpaceStats: spaces.stats,
    getRetrievalProfile: spaces.retrievalProfile,
    setRetrievalProfile: spaces.setRetrievalProfile,
    listDocuments: documents.list,
    getDocument: documents.get,
    getParseArtifact: documents.parseArtifact,
    getDocumentOutline: documents.outline,
    getMultimodalManifest: documents.multimodal,
    reindexDocuments: documents.reindex,
    checkDocuments: documents.check,
    listSkippedFiles: documents.skipped,
    recordSkippedFiles: documents.recordSkipped,
    getJob: jobs.get,
    cancelJob: jobs.cancel,
    listJobs: jobs.list,
    retryJob: jobs.retry,
    retryFailedJobs: jobs.retryFailed,
    getBulkJob: jobs.bulk,
    getTrace: queries.trace,
    listTraceEvidence: queries.evidence,
    listTraceConflicts: queries.conflicts,
    listTraceMissing: queries.missing,
    explainQuery: queries.explain,
    searchSpace: queries.search,
    searchSpaces: queries.searchSpaces,
    listQualityTraces: quality.traces,
    createGoldenQuestion: golden.create,
    listGoldenQuestions: golden.list,
    getGoldenQuestion: golden.get,
    updateGoldenQuestion: golden.update,
    annotateGoldenQuestion: golden.annotate,
    deleteGoldenQuestion: golden.delete,
    createGoldenRun: runs.create,
    listGoldenRuns: runs.list,
    getGoldenRun: runs.get,
    listGoldenRunResults: runs.results,
    deleteGoldenRun: runs.delete,
    createProductionBadCase: golden.fromTrace,
    decideFailedQuery: failed.decide,
    getFailedQueryMetrics: failed.metrics,
    listFailedQueryClusters: failed.clusters,
    triageFailedQueries: failed.triage,
    listFailedQueries: failed.list,
    listSpaceConflicts: quality.conflicts,
    createSource: sources.create,
    listSources: sources.list,
    getSource: sources.get,
    updateSource: sources.update,
    deleteSource: sources.delete,
    crawlSource: sources.crawl,
    listSourcePages: sources.pages,
    importSourcePages: sources.importPages,
    listSourceFiles: sources.files,
    importSourceFiles: sources.importFiles,
    testSource: sources.test,
    planResearchTask: research.plan,
    createResearchTask: research.create,
    listResearchTasks: research.list,
    getResearchTask: research.get,
    listResearchPartials: research.partials,
    getResearchReport: research.report,
    cancelResearchTask: research.cancel,
    traverseGraph: graph.traverse,
    materializeTopic: graph.materializeTopic,
    extractEntities: graph.extract,
    materializeCommunities: graph.materializeCommunities,
    listGraphEntities: graph.entities,
    listGraphRelations: graph.relations,
    listCommunities: graph.communities,
    startGraphReading: readings.start,
    listGraphReadings: readings.list,
    getGraphReading: readings.get,
    cancelGraphReading: readings.cancel,
    fsckRepair: integrity.repair,
    gcDryRun: integrity.gcDryRun,
    listStagedCommits: integrity.commits,
    listActiveLeases: integrity.leases,
    getTenantRetentionPolicy: retention.ofTenant,
    updateTenantRetentionPolicy: retention.setTenant,
    getSpaceRetentionPolicy: retention.ofSpace,
    updateSpaceRetentionPolicy: retention.setSpace,
    fsLs: fs.ls,
    fsTree: fs.tree,
    fsGrep: fs.grep,
    fsFind: fs.find,
    fsCat: fs.cat,
    fsWrite: fs.write,
    fsMv: fs.mv,
    fsRm: fs.rm,
    createWorkspaceSnapshot: snapshots.create,
    listWorkspaceSnapshots: snapshots.list,
    getWorkspaceSnapshot: snapshots.get,
    deleteWorkspaceSnapshot: snapshots.delete,
    readWorkspaceSnapshotFile: snapshots.file,
    replayWorkspaceSnapshot: snapshots.replay,
    createChatApp: apps.create,
    listChatApps: apps.list,
    getChatApp: apps.get,
    updateChatApp: apps.update,
    deleteChatApp: apps.delete,
    createChatAppKey: apps.createKey,
    listChatAppKeys: apps.listKeys,
    revokeChatAppKey: apps.revokeKey,
  }
}
