import type { Features } from './rerank.js'

interface Model {
  bias: number
  coverage: number
  sentenceCoverage: number
  pairs: number
  /** of the logarithm: the first occurrences say most */
  strength: number
  /** of one by the number of terms: a short query is covered by chance */
  brevity: number
  cosine: number
}

/**
 * Logistic models of "this passage answers the query" from the best candidate's features, with the cosine of the
 * built-in vectors and without any (another model's cosines mean something else). Fitted on four sets' questions asked
 * of their own documents, of another set's, and of the half of the articles without the answer, weighing the pairs of
 * sets until the worst were equally good; the bias puts `REFUSE_BELOW` where each set loses at most 5 % of its own
 * questions (bench/answerability.ts).
 */
const WITH_COSINE: Model = {
  ...{ bias: 1.88, coverage: 0.62, sentenceCoverage: 4.56, pairs: 4.71, strength: 2.5, brevity: -12.84, cosine: 2.63 },
}
const BY_TEXT: Model = {
  ...{ bias: 5.6, coverage: -0.5, sentenceCoverage: 4.55, pairs: 3.1, strength: 4, brevity: -13.5, cosine: 0 },
}
/** Keeps the logarithm of no occurrence finite. */
const LEAST_STRENGTH = 0.02
/** Queries of fewer distinct terms count as this many: the fit has seen none. */
const SHORTEST_QUERY = 3

/**
 * How likely a passage answers the query, 0 to 1.
 *
 * @param terms distinct terms of the query
 * @param cosine of the passage to the query, where the built-in model made the vectors
 */
export function answerConfidence(features: Features, terms: number, cosine?: number): number {
  const model = cosine === undefined ? BY_TEXT : WITH_COSINE
  const logit =
    model.bias +
    model.coverage * features.coverage +
    model.sentenceCoverage * features.sentenceCoverage +
    model.pairs * features.pairs +
    model.strength * Math.log(LEAST_STRENGTH + features.strength) +
    model.brevity / Math.max(SHORTEST_QUERY, terms) +
    model.cosine * (cosine ?? 0)
  return 1 / (1 + Math.exp(-logit))
}
