import type { EvidenceBundle, EvidenceState, MissingEvidence } from '../../contract/gateway/queries.js'
import { notRetrieved } from './missing.js'
import { WITHHELD_ENTRY } from './withheld.js'

/**
 * A model that is given passages says at the beginning of its answer whether they answer: a mark that is the same in
 * every language, and that nobody else sees.
 */
export const MARK_RULE =
  'Begin with [none] when the passages say nothing that answers the question, and then say so in one sentence. Begin with [part] when they answer only a part of it. Otherwise begin with the answer itself.'

/** Models put marks in bold or in code, and take other brackets. */
const MARK = /^[*_`"'>\s]*[[【(]\s*(none|part)\s*[\]】)][*_`"'.:\s]*/i
/** The beginning of a mark that may still come. */
const BEGUN = /^[*_`"'>\s]*(?:[[【(]\s*(?:n|no|non|none|p|pa|par|part)?\s*)?$/i
/** Marks are short: what is longer without one has none. */
const MOST_CHARACTERS = 20

export type AnswerMark = 'none' | 'part'

/** Takes the mark off an answer that comes in pieces. */
export function markReader() {
  let held = ''
  let isOpen = true
  let said: AnswerMark | undefined

  const decide = (isEnd: boolean): string => {
    const text = held.trimStart()
    const mark = MARK.exec(text)
    const rest = mark === null ? held : text.slice(mark[0].length)
    // a mark may still be coming, and so may the blanks behind it
    const mayGoOn = mark === null ? text.length < MOST_CHARACTERS && BEGUN.test(text) : rest === ''
    if (!isEnd && mayGoOn) return ''
    isOpen = false
    if (mark !== null) said = mark[1]?.toLowerCase() === 'none' ? 'none' : 'part'
    return rest
  }

  return {
    /** @returns what of the answer may be shown by now */
    take(text: string): string {
      if (!isOpen) return text
      held += text
      return decide(false)
    },
    /** What was held back when the answer ended. */
    rest: (): string => (isOpen ? decide(true) : ''),
    said: (): AnswerMark | undefined => said,
  }
}

/**
 * The state of evidence that a model has answered from: what it says decides, and where it says nothing, whether it
 * cites a passage. Contradictions hold unless it declines. The state is limited by permission where the rules judged it
 * so, or where a passage that answers is withheld and the model marks its answer as none or a part.
 *
 * @param withheld whether the best passage answers and is one that the reader may not read
 */
export function stateByMark(
  judged: EvidenceState,
  said: AnswerMark | undefined,
  citations: number,
  withheld = false,
): EvidenceState {
  if (judged === 'permission-limited' || (said !== undefined && withheld)) return 'permission-limited'
  if (said === 'none') return 'not-enough-evidence'
  if (judged === 'conflict') return judged
  if (said === 'part') return 'partial'
  if (citations > 0) return 'answerable'
  return judged === 'answerable' ? 'partial' : judged
}

/** Who decided a state that a model has answered from: what rules found holds beside what it says. */
export function deciderOf(state: EvidenceState): 'model' | 'rules' {
  return state === 'conflict' || state === 'permission-limited' ? 'rules' : 'model'
}

const OF_A_STATE = new Set<MissingEvidence['reason']>(['not-retrieved', 'conflict', 'permission-filtered'])

/** Evidence in the state that it has for an answer, with what is missing accordingly. */
export function withState(bundle: EvidenceBundle, state: EvidenceState): EvidenceBundle {
  if (state === bundle.state) return bundle
  const others = bundle.missingEvidence.filter(({ reason }) => !OF_A_STATE.has(reason))
  const isOpen = state === 'not-enough-evidence' || state === 'partial'
  const missing = isOpen ? notRetrieved(bundle.query) : []
  const withheld = state === 'permission-limited' ? [WITHHELD_ENTRY] : []
  return { ...bundle, state, missingEvidence: [...missing, ...withheld, ...others] }
}
