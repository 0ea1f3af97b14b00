import { describe, expect, it } from 'vitest'
import type { EvidenceBundle, EvidenceState, MissingEvidence } from '../../../src/contract/gateway/queries.js'
import {
  type AnswerMark,
  deciderOf,
  markReader,
  stateByMark,
  withState,
} from '../../../src/engine/query/answer-mark.js'

/** What is shown of an answer that comes in these pieces: as each comes, and at its end. */
function shown(...pieces: string[]) {
  const reader = markReader()
  return [...pieces.map((piece) => reader.take(piece)), reader.rest(), reader.said()]
}

describe('an answer that comes in pieces', () => {
  it('is held back only as long as a mark may be coming', () => {
    expect(shown('T', 'he lamp')).toEqual(['T', 'he lamp', '', undefined])
    expect(shown('[', 'n', 'one', ']', ' ', 'No.')).toEqual(['', '', '', '', '', 'No.', '', 'none'])
    expect(shown('[p', 'art', '] ', 'Some.')).toEqual(['', '', '', 'Some.', '', 'part'])
    expect(shown('[', '1] says', ' so')).toEqual(['', '[1] says', ' so', '', undefined])
    expect(shown('[n', 'ext] is')).toEqual(['', '[next] is', '', undefined])
    expect(shown('**', '[none]', '**', ' No.')).toEqual(['', '', '', 'No.', '', 'none'])
  })

  it('is shown as it is once something was shown, whatever looks like a mark', () => {
    expect(shown('Lit. ', '[none]', ' [part]')).toEqual(['Lit. ', '[none]', ' [part]', '', undefined])
    expect(shown('[part] Lit.', '[none]')).toEqual(['Lit.', '[none]', '', 'part'])
  })

  it('that ends before it is clear is shown whole', () => {
    expect(shown('[no')).toEqual(['', '[no', undefined])
    expect(shown('  ')).toEqual(['', '  ', undefined])
    expect(shown('')).toEqual(['', '', undefined])
    expect(shown('[none]')).toEqual(['', '', 'none'])
    expect(shown('[ none ]')).toEqual(['', '', 'none'])
    expect(shown('(Part): Lit.')).toEqual(['Lit.', '', 'part'])
  })

  it('is not held back for quotes or stars without end', () => {
    const stars = '*'.repeat(25)
    expect(shown(stars)).toEqual([stars, '', undefined])
    expect(shown('*'.repeat(19))).toEqual(['', '*'.repeat(19), undefined])
    expect(shown('*'.repeat(20))).toEqual(['*'.repeat(20), '', undefined])
    // blanks before it do not count
    expect(shown(`${' '.repeat(40)}[`, 'none] No.')).toEqual(['', 'No.', '', 'none'])
  })
})

describe('the state after an answer', () => {
  const STATES = ['answerable', 'partial', 'not-enough-evidence', 'conflict', 'permission-limited'] as const
  const stateAfter = (said: AnswerMark | undefined, citations: number, withheld?: boolean): EvidenceState[] =>
    STATES.map((judged) => stateByMark(judged, said, citations, withheld))

  it('is what the model says, and where it says nothing, whether it cites', () => {
    const limited = 'permission-limited'
    const none = 'not-enough-evidence'
    expect(stateAfter('none', 0)).toEqual([none, none, none, none, limited])
    expect(stateAfter('part', 1)).toEqual(['partial', 'partial', 'partial', 'conflict', limited])
    expect(stateAfter(undefined, 1)).toEqual(['answerable', 'answerable', 'answerable', 'conflict', limited])
    expect(stateAfter(undefined, 0)).toEqual(['partial', 'partial', none, 'conflict', limited])
  })

  it('is that better evidence was withheld where the model finds the rest wanting', () => {
    const limited = Array.from(STATES, () => 'permission-limited')
    expect(stateAfter('none', 0, true)).toEqual(limited)
    expect(stateAfter('part', 1, true)).toEqual(limited)
    expect(stateAfter(undefined, 1, true)).toEqual(stateAfter(undefined, 1))
  })

  it('was decided by rules where they found a contradiction or a limit, else by the model', () => {
    expect(STATES.map(deciderOf)).toEqual(['model', 'model', 'model', 'rules', 'rules'])
  })
})

describe('evidence in another state', () => {
  const entry = (reason: MissingEvidence['reason']): MissingEvidence => ({
    reason,
    text: `old ${reason}`,
    metadata: {},
  })
  const ALL = (['not-retrieved', 'conflict', 'permission-filtered', 'stale'] as const).map(entry)
  const bundle = (state: EvidenceState): EvidenceBundle => ({
    ...{ id: 'i', query: 'How high is the tower?', createdAt: '', state, items: [], missingEvidence: ALL },
  })
  const told = (from: EvidenceState, to: EvidenceState) =>
    withState(bundle(from), to).missingEvidence.map(({ reason, text }) =>
      text.startsWith('old') ? text : `new ${reason}`,
    )

  it('is the same where the state is', () => {
    const same = bundle('partial')
    expect(withState(same, 'partial')).toBe(same)
  })

  it('says what is missing as that state has it', () => {
    expect(withState(bundle('partial'), 'answerable').state).toBe('answerable')
    expect(told('partial', 'answerable')).toEqual(['old stale'])
    expect(told('answerable', 'partial')).toEqual(['new not-retrieved', 'old stale'])
    expect(told('partial', 'not-enough-evidence')).toEqual(['new not-retrieved', 'old stale'])
    expect(told('partial', 'permission-limited')).toEqual(['new permission-filtered', 'old stale'])
  })
})
