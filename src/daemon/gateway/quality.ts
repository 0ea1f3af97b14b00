import type { qualityRoutes } from '../../contract/gateway/quality.js'
import type { HandlerDeps, RouteHandlers } from '../operation.js'

export function qualityHandlers({ engine: { quality } }: HandlerDeps) {
  const { golden, failed } = quality
  return {
    listQualityTraces: ({ caller, params, query }) => quality.traces(caller, params.id, query),
    reviewMissingEvidence: ({ caller, params: { id, ...item }, body }) => quality.reviewMissing(caller, id, item, body),
    listMissingEvidenceHistory: ({ caller, params: { id, ...item } }) => quality.missingHistory(caller, id, item),
    createGoldenQuestion: ({ caller, params, body }) => golden.create(caller, params.id, body),
    listGoldenQuestions: ({ caller, params, query }) => golden.list(caller, params.id, query),
    getGoldenQuestion: ({ caller, params }) => golden.get(caller, params.id, params.questionId),
    updateGoldenQuestion: ({ caller, params, body }) => golden.update(caller, params.id, params.questionId, body),
    annotateGoldenQuestion: ({ caller, params, body }) => golden.annotate(caller, params.id, params.questionId, body),
    deleteGoldenQuestion: async ({ caller, params }) => {
      await golden.delete(caller, params.id, params.questionId)
      return undefined
    },
    createProductionBadCase: ({ caller, params, body }) => golden.fromTrace(caller, params.id, body),
    decideFailedQuery: ({ caller, params, body }) => failed.decide(caller, params.id, params.failedQueryId, body),
    getFailedQueryMetrics: ({ caller, params }) => failed.metrics(caller, params.id),
    listFailedQueryClusters: ({ caller, params, query }) => failed.clusters(caller, params.id, query),
    triageFailedQueries: ({ caller, params, query }) => failed.triage(caller, params.id, query.limit),
    listFailedQueries: ({ caller, params, query }) => failed.list(caller, params.id, query),
  } satisfies RouteHandlers<typeof qualityRoutes>
}
