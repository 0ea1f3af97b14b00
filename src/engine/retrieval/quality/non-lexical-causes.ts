import { analyzeContent } from '../../../lib/text/analyze.js'
import type { Read } from '../../store/program.js'
import { listOpenUnpublished, listPassageVersions } from '../rows/quality/evidence.js'
import type { FailedQueryRow } from '../rows/quality/failed-queries.js'
import { findTraceSteps } from '../rows/quality/traces.js'
import type { TriageTerm } from './compare-passages.js'
import type { TriageScope } from './open-hits.js'

/** Causes other than wording that kept passages from an answer. */
export interface NonLexicalCauses {
  /** the question was limited to named documents, and the best passages are in others */
  limited: boolean
  /** the profile's threshold dropped passages */
  threshold: boolean
  /** passages were withheld because the caller may not read their sources */
  withheld: boolean
  /** the best passages were published after the question */
  later: boolean
  /** names of unpublished documents whose name contains what the question asks for */
  unpublished: string[]
}

/** Minimum fraction of the question's weight in the name of a document. */
const MIN_NAME_FRACTION = 0.5
const MAX_NAMES = 3
/** Maximum unpublished documents that are examined. */
const MAX_UNPUBLISHED = 500

/**
 * Finds the causes from the trace of the question and the rows of documents.
 *
 * @param best ids of the best passages
 */
export function* findNonLexicalCauses(
  scope: TriageScope,
  row: FailedQueryRow,
  queryTerms: readonly TriageTerm[],
  best: readonly string[],
): Read<NonLexicalCauses> {
  const retrieve = yield* readRetrieveStep(scope.space.tenant, row.answer_trace_id)
  const metrics = Object(retrieve['metrics'])
  const hasCount = (name: string): boolean => Number(Reflect.get(metrics, name) ?? 0) > 0
  const locations = yield* listPassageVersions(best)
  const only = retrieve['activeDocumentIds']
  return {
    limited: Array.isArray(only) && locations.length > 0 && !locations.some(({ document }) => only.includes(document)),
    threshold: hasCount('scoreThresholdFilteredCount'),
    withheld: hasCount('permissionFilteredCount'),
    later: row.asked_at > 0 && locations.length > 0 && locations.every(({ published }) => published > row.asked_at),
    unpublished: yield* findUnpublishedNames(scope, queryTerms),
  }
}

/** Metadata of the retrieval step; empty when the trace has been deleted. */
function* readRetrieveStep(tenant: string, traceId: string | null): Read<Record<string, unknown>> {
  if (traceId === null) return {}
  const steps = yield* findTraceSteps(tenant, traceId)
  return steps.find(({ name }) => name === 'query.retrieve')?.metadata ?? {}
}

function* findUnpublishedNames({ space, audience }: TriageScope, queryTerms: readonly TriageTerm[]): Read<string[]> {
  const names = yield* listOpenUnpublished(space.key, audience, MAX_UNPUBLISHED)
  const total = queryTerms.reduce((sum, { weight }) => sum + weight, 0)
  const computeNameFraction = (filename: string): number => {
    const named = new Set(analyzeContent(filename.replace(/\.[a-z0-9]+$/i, '').replace(/[_/\\.-]+/g, ' ')))
    const found = queryTerms.filter(
      ({ term, variants }) => named.has(term) || variants.some((one) => named.has(one.term)),
    )
    return found.reduce((sum, { weight }) => sum + weight, 0) / total
  }
  return names.filter((filename) => computeNameFraction(filename) >= MIN_NAME_FRACTION).slice(0, MAX_NAMES)
}
