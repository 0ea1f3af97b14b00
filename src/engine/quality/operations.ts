import type { SpaceConflicts, SpaceConflictsQuery } from '../../contract/gateway/conflicts.js'
import type {
  ClustersQuery,
  FailedQueriesQuery,
  FailedQuery,
  FailedQueryClusters,
  FailedQueryMetrics,
  TriageReport,
  VerdictBody,
} from '../../contract/gateway/failed-queries.js'
import type {
  AnnotationBody,
  BadCaseBody,
  CreateGoldenQuestionBody,
  GoldenQuestion,
  UpdateGoldenQuestionBody,
} from '../../contract/gateway/golden-questions.js'
import type {
  MissingEvidenceHistory,
  MissingEvidenceReview,
  QualityTraceSummary,
  QualityTracesQuery,
  ReviewBody,
} from '../../contract/gateway/quality.js'
import type { Caller } from '../base/caller.js'
import type { Page, PageRequest } from '../base/page.js'
import { listSpaceConflicts } from '../conflicts/list.js'
import type { EngineContext } from '../context.js'
import type { MissingEvidenceItem } from '../rows/quality/reviews.js'
import { findSpace } from '../rows/spaces.js'
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
import { readMissingEvidenceHistory, reviewMissingEvidence } from './missing-evidence.js'
import { listQualityTraces } from './quality-traces.js'
import { triageFailedQueries } from './triage.js'

/** Maximum wait of a list of clusters for queries that are not assigned yet. */
const CLUSTERING_TIMEOUT_MS = 2500

/** Operations of `Engine.quality`. Traces and their reviews belong to the caller; the rest belongs to the space. */
export interface QualityOperations {
  traces(caller: Caller, spaceId: string, query: QualityTracesQuery): Promise<Page<QualityTraceSummary>>
  /** @throws KsError `not-found`, `version-mismatch` when another revision is current */
  reviewMissing(
    caller: Caller,
    spaceId: string,
    item: MissingEvidenceItem,
    body: ReviewBody,
  ): Promise<MissingEvidenceReview>
  missingHistory(caller: Caller, spaceId: string, item: MissingEvidenceItem): Promise<MissingEvidenceHistory>
  /** Contradictions between documents of the space that the caller may read. */
  conflicts(caller: Caller, spaceId: string, query: SpaceConflictsQuery): Promise<SpaceConflicts>
  golden: {
    /** @throws KsError `not-found`, `capacity-exceeded` */
    create(caller: Caller, spaceId: string, body: CreateGoldenQuestionBody): Promise<GoldenQuestion>
    list(caller: Caller, spaceId: string, page: PageRequest): Promise<Page<GoldenQuestion>>
    get(caller: Caller, spaceId: string, id: string): Promise<GoldenQuestion>
    update(caller: Caller, spaceId: string, id: string, body: UpdateGoldenQuestionBody): Promise<GoldenQuestion>
    annotate(caller: Caller, spaceId: string, id: string, body: AnnotationBody): Promise<GoldenQuestion>
    delete(caller: Caller, spaceId: string, id: string): Promise<void>
    /** @throws KsError `not-found` for the space or the trace, `capacity-exceeded` */
    fromTrace(caller: Caller, spaceId: string, body: BadCaseBody): Promise<GoldenQuestion>
  }
  failed: {
    list(caller: Caller, spaceId: string, query: FailedQueriesQuery): Promise<Page<FailedQuery>>
    clusters(caller: Caller, spaceId: string, query: ClustersQuery): Promise<FailedQueryClusters>
    metrics(caller: Caller, spaceId: string): Promise<FailedQueryMetrics>
    /** @throws KsError `not-found`, `capacity-exceeded` when the verdict would create too many golden questions */
    decide(caller: Caller, spaceId: string, id: string, body: VerdictBody): Promise<FailedQuery>
    /** @throws KsError `not-found`, `unavailable` when the text index cannot be queried */
    triage(caller: Caller, spaceId: string, limit: number): Promise<TriageReport>
  }
}

export function createQuality(context: EngineContext): QualityOperations {
  const { db } = context
  return {
    traces: (caller, spaceId, query) => listQualityTraces(db, caller, spaceId, query),
    reviewMissing: (caller, spaceId, item, body) => reviewMissingEvidence(db, caller, spaceId, item, body),
    missingHistory: (caller, spaceId, item) => db.read(readMissingEvidenceHistory(caller, spaceId, item)),
    conflicts: (caller, spaceId, query) => listSpaceConflicts(context, caller, spaceId, query),
    golden: {
      create: (caller, spaceId, body) => createGoldenQuestion(db, caller, spaceId, body),
      list: (caller, spaceId, page) => db.read(listGoldenQuestions(caller, spaceId, page)),
      get: (caller, spaceId, id) => db.read(getGoldenQuestion(caller, spaceId, id)),
      update: (caller, spaceId, id, body) => updateGoldenQuestion(db, caller, spaceId, id, body),
      annotate: (caller, spaceId, id, body) => annotateGoldenQuestion(db, caller, spaceId, id, body),
      delete: (caller, spaceId, id) => deleteGoldenQuestion(db, caller, spaceId, id),
      fromTrace: (caller, spaceId, body) => createBadCase(db, caller, spaceId, body),
    },
    failed: {
      list: (caller, spaceId, query) => db.read(listFailedQueries(caller, spaceId, query)),
      async clusters(caller, spaceId, query) {
        await context.failedClusters.catchUp(await db.read(findSpace(caller.tenant, spaceId)), CLUSTERING_TIMEOUT_MS)
        return await db.read(clusterFailedQueries(caller, spaceId, query))
      },
      metrics: (caller, spaceId) => db.read(computeFailedQueryMetrics(caller, spaceId)),
      decide: (caller, spaceId, id, body) => decideFailedQuery(context, caller, spaceId, id, body),
      triage: (caller, spaceId, limit) => triageFailedQueries(context, caller, spaceId, limit),
    },
  }
}
