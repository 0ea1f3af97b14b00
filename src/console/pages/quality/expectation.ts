import type { GoldenQuestion } from '../../../contract/gateway/golden-questions.js'
import type { GoldenCase } from '../../../contract/gateway/golden-runs.js'
import type { AnswerTrace, EvidenceItem } from '../../../contract/gateway/queries.js'
import { parseGoldenCase } from '../../../contract/golden-case.js'
import { isRecord } from '../../api/session.js'

/** What a golden question expects. Clients write its metadata freely: an unreadable expectation counts as absent. */
export function toExpectation(question: GoldenQuestion): GoldenCase {
  try {
    return parseGoldenCase(question, question.id)
  } catch {
    return parseGoldenCase({ ...question, metadata: {} }, question.id)
  }
}

/** The evidence that a trace contains. */
export function evidenceItemsOf({ steps }: AnswerTrace): readonly EvidenceItem[] {
  for (const { metadata } of steps) {
    const { evidenceBundle } = metadata
    // metadata of a step holds a bundle that follows the contract
    if (isRecord(evidenceBundle) && Array.isArray(evidenceBundle.items)) return evidenceBundle.items as EvidenceItem[]
  }
  return []
}

export function filenameOf({ metadata }: Pick<EvidenceItem, 'metadata'>): string {
  return typeof metadata.filename === 'string' ? metadata.filename : ''
}
