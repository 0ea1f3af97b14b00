import { describe, expect, it } from 'vitest'
import type { EvidenceBundle } from '../../../src/contract/gateway/queries.js'
import { deciderOf, markReader, stateByMark, withState } from '../../../src/engine/query/answer-mark.js'
import { followUpOf, searchedQuery } from '../../../src/engine/query/follow-up.js'
import { notRetrieved } from '../../../src/engine/query/missing.js'
import { aloneOf, whyOf } from '../../../src/engine/query/why.js'
import { WITHHELD_ENTRY } from '../../../src/engine/query/withheld.js'

describe('a mark at the beginning of an answer', () => {
  const read = (...pieces: string[]) => {
    const reader = markReader()
    const shown = pieces.map((piece) => reader.take(piece))
    return { shown, rest: reader.rest(), said: reader.said() }
  }

  it('is taken off, whatever it stands in and however it comes', () => {
    expect(read('[none] Nothing is said.')).toEqual({ shown: ['Nothing is said.'], rest: '', said: 'none' })
    expect(read('**[', 'Pa', 'rt]**', ' ', 'It is red.')).toEqual({
      ...{ shown: ['', '', '', '', 'It is red.'], rest: '', said: 'part' },
    })
    expect(read('(NONE): x').said).toBe('none')
    expect(read('【part】x').shown).toEqual(['x'])
  })

  it('is not what only looks like one', () => {
    expect(read('[1] It is red.')).toEqual({ shown: ['[1] It is red.'], rest: '', said: undefined })
    expect(read('[', '2] x')).toEqual({ shown: ['', '[2] x'], rest: '', said: undefined })
    expect(read('It is [none] of it.')).toEqual({ shown: ['It is [none] of it.'], rest: '', said: undefined })
    expect(read('[no')).toEqual({ shown: [''], rest: '[no', said: undefined })
    expect(read('[part]')).toEqual({ shown: [''], rest: '', said: 'part' })
    expect(read(' '.repeat(30), 'x').shown.join('')).toContain('x')
  })

  it.each([
    ['answerable', 'none', 2, false, 'not-enough-evidence'],
    ['answerable', 'part', 2, false, 'partial'],
    ['answerable', undefined, 1, false, 'answerable'],
    ['answerable', undefined, 0, false, 'partial'],
    ['partial', undefined, 1, false, 'answerable'],
    ['partial', undefined, 0, false, 'partial'],
    ['not-enough-evidence', undefined, 0, false, 'not-enough-evidence'],
    ['not-enough-evidence', undefined, 3, false, 'answerable'],
    ['conflict', undefined, 0, false, 'conflict'],
    ['conflict', 'part', 1, false, 'conflict'],
    ['conflict', 'none', 0, false, 'not-enough-evidence'],
    ['permission-limited', 'none', 0, false, 'permission-limited'],
    ['permission-limited', 'part', 1, false, 'permission-limited'],
    ['permission-limited', undefined, 1, false, 'permission-limited'],
    ['answerable', 'part', 1, true, 'permission-limited'],
    ['answerable', undefined, 1, true, 'answerable'],
  ] as const)(
    'on %s evidence, marked %s with %i citations (withheld: %s) makes it %s',
    (judged, said, citations, withheld, state) => {
      expect(stateByMark(judged, said, citations, withheld)).toBe(state)
    },
  )

  it('decides, but for what rules found', () => {
    const states = ['answerable', 'partial', 'not-enough-evidence', 'conflict', 'permission-limited'] as const
    expect(states.map(deciderOf)).toEqual(['model', 'model', 'model', 'rules', 'rules'])
  })
})

describe('evidence in another state', () => {
  const entry = (reason: string) => ({ reason, text: reason, metadata: {} })
  const bundle = (state: EvidenceBundle['state'], ...reasons: string[]): EvidenceBundle =>
    ({ query: 'How much is parking?', state, items: [], missingEvidence: reasons.map(entry) }) as never
  const reasons = ({ missingEvidence }: EvidenceBundle) => missingEvidence.map(({ reason }) => reason)

  it('says what is missing only while it is open, once, and keeps what else was missing', () => {
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

it('what nothing found answers is told for each question, once', () => {
  const entries = notRetrieved('How much is parking? Who owns the house?', ['parking'])
  expect(entries.map(({ reason, metadata }) => [reason, metadata.terms, metadata.kind])).toEqual([
    ['not-retrieved', ['parking'], 'price'],
    ['not-retrieved', ['parking'], 'person'],
  ])
  expect(notRetrieved('How much is parking? How much is parking?')).toHaveLength(1)
})

describe('a question behind others of a session', () => {
  const turns = [
    { query: 'How long are invoices kept by the office?', answer: 'Ten years.' },
    { query: 'And who may see them?', answer: 'The auditors.' },
  ]

  it('goes on from the last one that stands by itself', () => {
    expect(followUpOf('And where?', turns)).toMatchObject({ anchor: turns[0]?.query, isShort: true })
    expect(followUpOf('Is it stored in the cellar archive?', turns)).toMatchObject({ isShort: false })
    expect(followUpOf('What about those?', [turns[1] ?? turns[0]])).toMatchObject({ anchor: 'And who may see them?' })
    expect(followUpOf('parking', turns)).toMatchObject({ ownTerms: ['park'], isShort: true })
    expect(followUpOf('那里呢', turns)?.anchor).toBe(turns[0]?.query)
  })

  it('stands by itself where it says all, or nothing came before', () => {
    expect(followUpOf('When does the swimming pool open?', turns)).toBeUndefined()
    expect(followUpOf('And where?', [])).toBeUndefined()
    expect(searchedQuery('When does the swimming pool open?', turns)).toBe('When does the swimming pool open?')
    expect(searchedQuery('And where?', turns)).toBe('And where?\n\nHow long are invoices kept by the office?')
  })
})

describe('why a passage is there', () => {
  const asked = { weight: 5, nodes: 10, falloff: 0.15 }
  const words = (terms: ReadonlySet<string>) => [...terms]
  const passage = (rest: object) => ({ passage: {}, final: 1, retrieval: 1, ...rest }) as never

  it('is what found it, the words that it holds, and those that none before it held', () => {
    const found = [
      passage({ held: ['a', 'b'], byMeaning: true }),
      passage({ held: ['b', 'c'] }),
      passage({ held: [], byMeaning: true }),
      passage({ byGraph: 'second-hop', held: ['a'] }),
      passage({ navigation: {}, byGraph: 'graph', held: ['d'] }),
    ]
    expect(whyOf(found, words, asked)).toEqual([
      { by: 'words-and-meaning', words: ['a', 'b'], adds: ['a', 'b'] },
      { by: 'words', words: ['b', 'c'], adds: ['c'] },
      { by: 'meaning', words: [], adds: [] },
      { by: 'second-hop', words: ['a'], adds: [] },
      { by: 'sections', words: ['d'], adds: ['d'] },
    ])
  })

  it('tells how likely it answers, as judged, else by its text', () => {
    expect(whyOf([passage({ alone: 0.123456 })], words, asked)[0]).toMatchObject({ confidence: 0.1235 })
    const features = { strength: 1, pairs: 1, sentenceCoverage: 1 }
    const byText = aloneOf({ features } as never, asked)
    expect(byText).toBeGreaterThan(0.5)
    expect(aloneOf({ alone: 0.3, features } as never, asked)).toBe(0.3)
    expect(aloneOf({}, asked)).toBeUndefined()
  })
})
