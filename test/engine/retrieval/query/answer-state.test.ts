import { describe, expect, it } from 'vitest'
import type { EvidenceBundle, EvidenceState, MissingEvidence } from '../../../../src/contract/gateway/queries.js'
import {
  computeReplyState,
  getDecider,
  type ModelReplyCheck,
  withState,
} from '../../../../src/engine/retrieval/query/model-answer.js'

describe("the evidence state after a model's answer", () => {
  const STATES = ['answerable', 'partial', 'not-enough-evidence', 'conflict', 'permission-limited'] as const
  const stateAfter = (reply: Partial<ModelReplyCheck>, withheld?: boolean): EvidenceState[] =>
    STATES.map((judged) => computeReplyState(judged, { isDeclined: false, isPart: false, ...reply }, withheld))
  const limited = 'permission-limited'
  const none = 'not-enough-evidence'

  it('becomes not-enough-evidence if the model declines, and answerable if all of the answer is supported', () => {
    expect(stateAfter({ isDeclined: true })).toEqual([none, none, none, none, limited])
    expect(stateAfter({})).toEqual(['answerable', 'answerable', 'answerable', 'conflict', limited])
  })

  it('stays at partial if statements were removed and the rules are not sure', () => {
    expect(stateAfter({ isPart: true })).toEqual(['answerable', 'partial', 'partial', 'conflict', limited])
  })

  it('reaches at most partial if the answer was not checked and cites nothing', () => {
    expect(stateAfter({ isUncited: true })).toEqual(['partial', 'partial', none, 'conflict', limited])
  })

  it('becomes permission-limited if better evidence is withheld and the visible evidence does not answer', () => {
    const all = Array.from(STATES, () => limited)
    expect(stateAfter({ isDeclined: true }, true)).toEqual(all)
    expect(stateAfter({ isPart: true }, true)).toEqual(all)
    expect(stateAfter({}, true)).toEqual(stateAfter({}))
  })

  it('counts as decided by rules for conflict and permission-limited, and by the model for other states', () => {
    expect(STATES.map(getDecider)).toEqual(['model', 'model', 'model', 'rules', 'rules'])
  })
})

describe('the evidence bundle after a change of its state', () => {
  const entry = (reason: MissingEvidence['reason']): MissingEvidence => ({
    reason,
    text: `old ${reason}`,
    metadata: {},
  })
  const ALL = (['not-retrieved', 'conflict', 'permission-filtered', 'stale'] as const).map(entry)
  const bundle = (state: EvidenceState): EvidenceBundle => ({
    ...{ id: 'i', query: 'How high is the tower?', createdAt: '', state, items: [], missingEvidence: ALL },
  })
  const missingAfter = (from: EvidenceState, to: EvidenceState) =>
    withState(bundle(from), to).missingEvidence.map(({ reason, text }) =>
      text.startsWith('old') ? text : `new ${reason}`,
    )

  it('stays the same object if the state does not change', () => {
    const same = bundle('partial')
    expect(withState(same, 'partial')).toBe(same)
  })

  it('lists the missing evidence of the new state, and keeps entries with other reasons', () => {
    expect(withState(bundle('partial'), 'answerable').state).toBe('answerable')
    expect(missingAfter('partial', 'answerable')).toEqual(['old stale'])
    expect(missingAfter('answerable', 'partial')).toEqual(['new not-retrieved', 'old stale'])
    expect(missingAfter('partial', 'not-enough-evidence')).toEqual(['new not-retrieved', 'old stale'])
    expect(missingAfter('partial', 'permission-limited')).toEqual(['new permission-filtered', 'old stale'])
  })
})
