import type { TriageVerdict } from './moves.js'
import type { TriageEvidence } from './triage-evidence.js'

export function judgeEvidence({ best, terms }: TriageEvidence): TriageVerdict {
  if (terms === 0) return 'uncertain'
  if (best < 0.1) return 'irrelevant'
  return best >= 0.5 ? 'retrieval-miss' : 'coverage-gap'
}
