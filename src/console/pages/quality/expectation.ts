import type { GoldenQuestion } from '../../../contract/gateway/golden-questions.js'
import type { GoldenCase } from '../../../contract/gateway/golden-runs.js'
import type { AnswerTrace, EvidenceItem } from '../../../contract/gateway/queries.js'
import { parseGoldenCase } from '../../../contract/golden-case.js'
import { isRecord } from '../../api/session.js'

/** Parses what a golden question expects. Clients write its metadata: an invalid expectation counts as absent. */
export function parseExpectation(question: GoldenQuestion): GoldenCase {
  try {
    return parseGoldenCase(question, question.id)
  } catch {
    return parseGoldenCase({ ...question, metadata: {} }, question.id)
  }
}

/** Lists the evidence in a trace. */
export function listEvidence({ steps }: AnswerTrace): readonly EvidenceItem[] {
  for (const { metadata } of steps) {
    const { evidenceBundle } = metadata
    // the service writes bundles in the form of the contract
    if (isRecord(evidenceBundle) && Array.isArray(evidenceBundle.items)) return evidenceBundle.items as EvidenceItem[]
  }
  return []
}
