import type { ClustersQuery, VerdictBody } from '../../../contract/gateway/failed-queries.js'
import type { AnnotationBody, UpdateGoldenQuestionBody } from '../../../contract/gateway/golden-questions.js'
import type { CreateGoldenRunBody } from '../../../contract/gateway/golden-runs.js'
import type { ReviewBody } from '../../../contract/gateway/quality.js'
import type { Caller } from '../../base/caller.js'
import { listSpaceConflicts } from '../../knowledge/index.js'
import type { EngineContext } from '../../library/index.js'
import { bind, bindRead } from '../../store/bind-operation.js'
import { findSpace } from '../../store/rows/spaces.js'
import type { MissingEvidenceItem } from '../rows/quality/reviews.js'
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
import { deleteGoldenRun, type GoldenRuns, getGoldenRun, listGoldenRunResults, listGoldenRuns } from './golden-runs.js'
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
    reviewMissing: bind((caller: Caller, spaceId: string, item: MissingEvidenceItem, body: ReviewBody) =>
      reviewMissingEvidence(db, caller, { spaceId, item }, body),
    ),
    missingHistory: bindRead(db, readMissingEvidenceHistory),
    conflicts: bind(listSpaceConflicts, context),
    golden: {
      create: bind(createGoldenQuestion, db),
      list: bindRead(db, listGoldenQuestions),
      get: bindRead(db, getGoldenQuestion),
      update: bind((caller: Caller, spaceId: string, id: string, body: UpdateGoldenQuestionBody) =>
        updateGoldenQuestion(db, caller, { spaceId, id }, body),
      ),
      annotate: bind((caller: Caller, spaceId: string, id: string, body: AnnotationBody) =>
        annotateGoldenQuestion(db, caller, { spaceId, id }, body),
      ),
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
      decide: bind((caller: Caller, spaceId: string, id: string, body: VerdictBody) =>
        decideFailedQuery(db, caller, { spaceId, id }, body),
      ),
      triage: bind(triageFailedQueries, context),
    },
  }
}
