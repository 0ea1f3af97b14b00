import type { EvidenceBundle, EvidenceState, MissingEvidence } from '../../contract/gateway/queries.js'
import { notRetrieved } from './missing.js'
import { WITHHELD_ENTRY } from './withheld.js'

/** What the check of a model's answer found. */
export interface ModelReply {
  /** it states that the passages do not answer */
  isDeclined: boolean
  /** statements of it were removed, it lacks what is asked for, or it disagrees with the quotation */
  isPart: boolean
  /** it was not checked, and cites nothing */
  isUncited?: boolean
}

/**
 * The state of evidence that a model has answered from. Contradictions remain unless it declines. The state is
 * `permission-limited` if the rules judged so, or if a passage that answers is withheld and the model declines or
 * answers a part.
 *
 * @param withheld whether the best passage answers and is one that the reader may not read
 */
export function stateOfReply(
  judged: EvidenceState,
  { isDeclined, isPart, isUncited = false }: ModelReply,
  withheld = false,
): EvidenceState {
  if (judged === 'permission-limited' || ((isDeclined || isPart) && withheld)) return 'permission-limited'
  if (isDeclined) return 'not-enough-evidence'
  if (judged === 'conflict') return judged
  if (isUncited) return judged === 'answerable' ? 'partial' : judged
  return isPart && judged !== 'answerable' ? 'partial' : 'answerable'
}

/** Who decided a state that a model has answered from: contradictions and limits are found by rules. */
export function deciderOf(state: EvidenceState): 'model' | 'rules' {
  return state === 'conflict' || state === 'permission-limited' ? 'rules' : 'model'
}

const OF_A_STATE = new Set<MissingEvidence['reason']>(['not-retrieved', 'conflict', 'permission-filtered'])

/** Evidence in the state that it has for an answer, with the missing evidence of that state. */
export function withState(bundle: EvidenceBundle, state: EvidenceState): EvidenceBundle {
  if (state === bundle.state) return bundle
  const others = bundle.missingEvidence.filter(({ reason }) => !OF_A_STATE.has(reason))
  const isOpen = state === 'not-enough-evidence' || state === 'partial'
  const missing = isOpen ? notRetrieved(bundle.query) : []
  const withheld = state === 'permission-limited' ? [WITHHELD_ENTRY] : []
  return { ...bundle, state, missingEvidence: [...missing, ...withheld, ...others] }
}
