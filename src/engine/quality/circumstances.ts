import { analyzeContent } from '../../lib/text/analyze.js'
import { openUnpublished, placesOf } from '../rows/quality/evidence.js'
import type { FailedRow } from '../rows/quality/failed-queries.js'
import { stepsOf } from '../rows/quality/traces.js'
import type { Read } from '../storage/program.js'
import type { Searched } from './open-hits.js'
import type { AskedTerm } from './signs.js'

/** Causes other than wording that kept passages from an answer. */
export interface Circumstances {
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
const NAMED_FROM = 0.5
const MAX_NAMES = 3
/** Maximum unpublished documents that are examined. */
const MAX_UNPUBLISHED = 500

/**
 * Finds the causes from the trace of the question and the rows of documents.
 *
 * @param best ids of the best passages
 */
export function* circumstancesOf(
  where: Searched,
  row: FailedRow,
  asked: readonly AskedTerm[],
  best: readonly string[],
): Read<Circumstances> {
  const retrieve = yield* retrieveStep(where.space.tenant, row.answer_trace_id)
  const metrics = Object(retrieve['metrics'])
  const counted = (name: string): boolean => Number(Reflect.get(metrics, name) ?? 0) > 0
  const places = yield* placesOf(best)
  const only = retrieve['activeDocumentIds']
  return {
    limited: Array.isArray(only) && places.length > 0 && !places.some(({ document }) => only.includes(document)),
    threshold: counted('scoreThresholdFilteredCount'),
    withheld: counted('permissionFilteredCount'),
    later: row.asked_at > 0 && places.length > 0 && places.every(({ published }) => published > row.asked_at),
    unpublished: yield* unpublishedNames(where, asked),
  }
}

/** Metadata of the retrieval step; empty when the trace has been deleted. */
function* retrieveStep(tenant: string, traceId: string | null): Read<Record<string, unknown>> {
  if (traceId === null) return {}
  const steps = yield* stepsOf(tenant, traceId)
  return steps.find(({ name }) => name === 'query.retrieve')?.metadata ?? {}
}

function* unpublishedNames({ space, audience }: Searched, asked: readonly AskedTerm[]): Read<string[]> {
  const names = yield* openUnpublished(space.key, audience, MAX_UNPUBLISHED)
  const total = asked.reduce((sum, { weight }) => sum + weight, 0)
  const says = (filename: string): number => {
    const named = new Set(analyzeContent(filename.replace(/\.[a-z0-9]+$/i, '').replace(/[_/\\.-]+/g, ' ')))
    const found = asked.filter(({ term, variants }) => named.has(term) || variants.some((one) => named.has(one.term)))
    return found.reduce((sum, { weight }) => sum + weight, 0) / total
  }
  return names.filter((filename) => says(filename) >= NAMED_FROM).slice(0, MAX_NAMES)
}
