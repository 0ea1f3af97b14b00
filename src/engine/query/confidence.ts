import type { Features } from './rerank.js'

/**
 * Logistic model of "this passage answers the query" from the best candidate's features. Fitted on 995 questions of
 * four sets asked of their own documents, against 1,490 asked of another set's and 500 of the half of the articles
 * that does not hold the answer (bench/retrieval-offline.ts).
 */
const CONFIDENCE = { bias: -4.8, coverage: 3.1, strength: 18, pairs: 3.7, brevity: -11.4 }
/** Queries of fewer distinct terms count as this many: the fit has seen none. */
const SHORTEST_QUERY = 3

/** How likely a passage answers the query, 0 to 1. @param terms distinct terms of the query */
export function answerConfidence({ coverage, strength, pairs }: Features, terms: number): number {
  const distinct = Math.max(SHORTEST_QUERY, terms)
  const logit =
    CONFIDENCE.bias +
    CONFIDENCE.coverage * coverage +
    CONFIDENCE.strength * strength +
    CONFIDENCE.pairs * pairs +
    CONFIDENCE.brevity / distinct
  return 1 / (1 + Math.exp(-logit))
}
