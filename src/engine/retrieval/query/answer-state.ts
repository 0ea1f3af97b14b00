import type { EvidenceBundle, EvidenceState, MissingEvidence } from '../../../contract/gateway/queries.js'
import { describeMissingEvidence } from './missing.js'
import { WITHHELD_ENTRY } from './withheld.js'

/** Result of checking a model's answer. */
export interface ModelReplyCheck {
  /** it states that the passages do not answer */
  isDeclined: boolean
  /** statements were removed, the requested detail is missing, or it disagrees with the quotation */
  isPart: boolean
  /** it was not checked, and cites nothing */
  isUncited?: boolean
}

/**
 * Returns the state of evidence after a model has answered from it. Contradictions remain unless the model declines.
 * The state is `permission-limited` if the rules found that, or if a passage that answers is withheld and the model
 * declines or answers partially.
 *
 * @param isWithheld whether the best passage answers but the reader may not read it
 */
export function computeReplyState(
  judged: EvidenceState,
  { isDeclined, isPart, isUncited = false }: ModelReplyCheck,
  isWithheld = false,
): EvidenceState {
  if (judged === 'permission-limited' || ((isDeclined || isPart) && isWithheld)) return 'permission-limited'
  if (isDeclined) return 'not-enough-evidence'
  if (judged === 'conflict') return judged
  if (isUncited) return judged === 'answerable' ? 'partial' : judged
  return isPart && judged !== 'answerable' ? 'partial' : 'answerable'
}

/** Who decided the state of an answer that a model wrote: contradictions and permission limits are found by rules. */
export function getDecider(state: EvidenceState): 'model' | 'rules' {
  return state === 'conflict' || state === 'permission-limited' ? 'rules' : 'model'
}

const STATE_REASONS = new Set<MissingEvidence['reason']>(['not-retrieved', 'conflict', 'permission-filtered'])

/** Evidence with another state and the missing evidence of that state. */
export function withState(bundle: EvidenceBundle, state: EvidenceState): EvidenceBundle {
  if (state === bundle.state) return bundle
  const others = bundle.missingEvidence.filter(({ reason }) => !STATE_REASONS.has(reason))
  const isOpen = state === 'not-enough-evidence' || state === 'partial'
  const missing = isOpen ? describeMissingEvidence(bundle.query) : []
  const withheld = state === 'permission-limited' ? [WITHHELD_ENTRY] : []
  return { ...bundle, state, missingEvidence: [...missing, ...withheld, ...others] }
}
