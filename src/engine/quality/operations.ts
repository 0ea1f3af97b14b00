import type { ClustersQuery } from '../../contract/gateway/failed-queries.js'
import type { CreateGoldenRunBody } from '../../contract/gateway/golden-runs.js'
import type { Caller } from '../base/caller.js'
import { listSpaceConflicts } from '../conflicts/list.js'
import type { EngineContext } from '../context.js'
import { findSpace } from '../rows/spaces.js'
import { bind, bindRead } from '../storage/bind-operation.js'
import { clusterFailedQueries } from './clusters.js'
import { computeFailedQueryMetrics, decideFailedQuery, listFailedQueries } from './failed-queries.js'
import {
  annotateGoldenQuestion,
  createBadCase,
  createGoldenQuestion,
  deleteGoldenQuestion,
  getGoldenQuestion,
  listGoldenQuestions,
  updateGoldenQuestion,
} from './golden-questions.js'
import {
  deleteGoldenRun,
  type GoldenRuns,
  getGoldenRun,
  listGoldenRunResults,
  listGoldenRuns,
} from './golden-runs.js'
import { readMissingEvidenceHistory, reviewMissingEvidence } from './missing-evidence.js'
import { listQualityTraces } from './quality-traces.js'
import { triageFailedQueries } from './triage.js'

/** Maximum wait of a list of clusters for queries that are not assigned yet. */
const CLUSTERING_TIMEOUT_MS = 2500

/** Operations of `Engine.quality`. Traces and their reviews belong to the caller; the rest belongs to the space. */
export function createQuality(context: EngineContext, runs: GoldenRuns) {
  const { db } = context
  return {
    traces: bind(listQualityTraces, db),
    reviewMissing: bind(reviewMissingEvidence, db),
    missingHistory: bindRead(db, readMissingEvidenceHistory),
    conflicts: bind(listSpaceConflicts, context),
    golden: {
      create: bind(createGoldenQuestion, db),
      list: bindRead(db, listGoldenQuestions),
      get: bindRead(db, getGoldenQuestion),
      update: bind(updateGoldenQuestion, db),
      annotate: bind(annotateGoldenQuestion, db),
      delete: bind(deleteGoldenQuestion, db),
      fromTrace: bind(createBadCase, db),
    },
    /** Runs of golden questions; they belong to the caller, as their traces do. */
    runs: {
      create: bind((caller: Caller, spaceId: string, body: CreateGoldenRunBody) => runs.create(caller, spaceId, body)),
      list: bindRead(db, listGoldenRuns),
      get: bindRead(db, getGoldenRun),
      results: bindRead(db, listGoldenRunResults),
      delete: bind(deleteGoldenRun, db),
    },
    failed: {
      list: bindRead(db, listFailedQueries),
      clusters: bind(async (caller: Caller, spaceId: string, query: ClustersQuery) => {
        await context.failedClusters.catchUp(await db.read(findSpace(caller.tenant, spaceId)), CLUSTERING_TIMEOUT_MS)
        return await db.read(clusterFailedQueries(caller, spaceId, query))
      }),
      metrics: bindRead(db, computeFailedQueryMetrics),
      decide: bind(decideFailedQuery, context),
      triage: bind(triageFailedQueries, context),
    },
  }
}
