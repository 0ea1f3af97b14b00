import { describe, expect, it } from 'vitest'
import type { EvidenceBundle } from '../../../../src/contract/gateway/queries.js'
import { findFollowUp, toSearchedQuery } from '../../../../src/engine/retrieval/query/follow-up.js'
import { withState } from '../../../../src/engine/retrieval/query/model-answer.js'
import { describeMissingEvidence } from '../../../../src/engine/retrieval/query/question/expected-evidence.js'
import { explainInclusion, getOwnConfidence } from '../../../../src/engine/retrieval/query/relevance.js'
import { WITHHELD_ENTRY } from '../../../../src/engine/retrieval/query/withheld.js'

describe('the evidence bundle after a change of its state', () => {
  const entry = (reason: string) => ({ reason, text: reason, metadata: {} })
  const bundle = (state: EvidenceBundle['state'], ...reasons: string[]): EvidenceBundle =>
    ({ query: 'How much is parking?', state, items: [], missingEvidence: reasons.map(entry) }) as never
  const reasons = ({ missingEvidence }: EvidenceBundle) => missingEvidence.map(({ reason }) => reason)

  it('drops missing-evidence entries that contradict the new state, and keeps entries with other reasons', () => {
    const before = bundle('partial', 'not-retrieved', 'conflict', 'stale', 'permission-filtered')
    expect(withState(before, 'partial')).toBe(before)
    expect(reasons(withState(before, 'answerable'))).toEqual(['stale'])
    expect(reasons(withState(before, 'not-enough-evidence'))).toEqual(['not-retrieved', 'stale'])
    expect(reasons(withState(before, 'conflict'))).toEqual(['stale'])
    expect(withState(before, 'conflict').state).toBe('conflict')
  })

  it('reports a withheld passage only in the state permission-limited, without details of it', () => {
    const before = bundle('answerable', 'permission-filtered')
    expect(withState(before, 'permission-limited').missingEvidence).toEqual([WITHHELD_ENTRY])
    expect(reasons(withState(bundle('permission-limited', 'permission-filtered'), 'partial'))).toEqual([
      'not-retrieved',
    ])
    expect(WITHHELD_ENTRY.metadata).toEqual({})
    expect(WITHHELD_ENTRY.text).not.toMatch(/\d/)
  })
})

it('missing evidence has one entry for each distinct question of a query', () => {
  const entries = describeMissingEvidence('How much is parking? Who owns the house?', ['parking'])
  expect(entries.map(({ reason, metadata }) => [reason, metadata.terms, metadata.kind])).toEqual([
    ['not-retrieved', ['parking'], 'price'],
    ['not-retrieved', ['parking'], 'person'],
  ])
  expect(describeMissingEvidence('How much is parking? How much is parking?')).toHaveLength(1)
})

describe('a question after earlier questions of a session', () => {
  const turns = [
    { query: 'How long are invoices kept by the office?', answer: 'Ten years.' },
    { query: 'And who may see them?', answer: 'The auditors.' },
  ]

  it('refers to the last complete question', () => {
    expect(findFollowUp('And where?', turns)).toMatchObject({ anchor: turns[0]?.query, isShort: true })
    expect(findFollowUp('Is it stored in the cellar archive?', turns)).toMatchObject({ isShort: false })
    expect(findFollowUp('What about those?', [turns[1] ?? turns[0]])).toMatchObject({ anchor: 'And who may see them?' })
    expect(findFollowUp('parking', turns)).toMatchObject({ ownTerms: ['park'], isShort: true })
    expect(findFollowUp('那里呢', turns)?.anchor).toBe(turns[0]?.query)
  })

  it('counts as complete if it names its subject, or if no question precedes it', () => {
    expect(findFollowUp('When does the swimming pool open?', turns)).toBeUndefined()
    expect(findFollowUp('And where?', [])).toBeUndefined()
    expect(toSearchedQuery('When does the swimming pool open?', turns)).toBe('When does the swimming pool open?')
    expect(toSearchedQuery('And where?', turns)).toBe('And where?\n\nHow long are invoices kept by the office?')
  })
})

describe('the reason for a passage in the evidence', () => {
  const asked = { weight: 5, nodes: 10, falloff: 0.15 }
  const words = (terms: ReadonlySet<string>) => [...terms]
  const passage = (rest: object) => ({ passage: {}, final: 1, retrieval: 1, ...rest }) as never

  it('names the search method, the words of the passage, and the words that no earlier passage has', () => {
    const found = [
      passage({ containedTerms: ['a', 'b'], byMeaning: true }),
      passage({ containedTerms: ['b', 'c'] }),
      passage({ containedTerms: [], byMeaning: true }),
      passage({ byGraph: 'second-hop', containedTerms: ['a'] }),
      passage({ navigation: {}, byGraph: 'graph', containedTerms: ['d'] }),
    ]
    expect(explainInclusion(found, words, asked)).toEqual([
      { by: 'words-and-meaning', words: ['a', 'b'], adds: ['a', 'b'] },
      { by: 'words', words: ['b', 'c'], adds: ['c'] },
      { by: 'meaning', words: [], adds: [] },
      { by: 'second-hop', words: ['a'], adds: [] },
      { by: 'sections', words: ['d'], adds: ['d'] },
    ])
  })

  it('contains the judged confidence of the passage alone, or one computed from its features', () => {
    expect(explainInclusion([passage({ alone: 0.123456 })], words, asked)[0]).toMatchObject({ confidence: 0.1235 })
    const features = { strength: 1, pairs: 1, sentenceCoverage: 1 }
    const byText = getOwnConfidence({ features } as never, asked)
    expect(byText).toBeGreaterThan(0.5)
    expect(getOwnConfidence({ alone: 0.3, features } as never, asked)).toBe(0.3)
    expect(getOwnConfidence({}, asked)).toBeUndefined()
  })
})
