import type { qualityRoutes } from '../../contract/gateway/quality.js'
import type { HandlerDeps, RouteHandlers } from '../operation.js'

export function qualityHandlers({ engine: { quality } }: HandlerDeps) {
  return {
    reviewMissingEvidence: ({ caller, params: { id, ...item }, body }) => quality.reviewMissing(caller, id, item, body),
    listMissingEvidenceHistory: ({ caller, params: { id, ...item } }) => quality.missingHistory(caller, id, item),
  } satisfies Partial<RouteHandlers<typeof qualityRoutes>>
}
