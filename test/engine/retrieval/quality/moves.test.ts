import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { FailedQueryStatus } from '../../../../src/contract/gateway/failed-queries.js'
import { FAILED_QUERY_STATUSES } from '../../../../src/contract/values.js'
import { findFailureTrigger, toClusterKey, toQueryKey } from '../../../../src/engine/library/traces/capture.js'
import { FAILED_QUERY_MOVES, type FailedQueryEvent, listMoves } from '../../../../src/engine/retrieval/quality/moves.js'
import type { TriageCause } from '../../../../src/engine/retrieval/quality/triage-evidence.js'
import { judgeOpinion, judgeTriageEvidence } from '../../../../src/engine/retrieval/quality/triage-rules.js'

const EVENTS: FailedQueryEvent[] = [
  'triage:sure',
  'triage:uncertain',
  'verdict:retrieval-miss',
  'verdict:coverage-gap',
  'verdict:irrelevant',
]

describe('the status changes of a failed query', () => {
  test('start at any status for the verdict of a reviewer, and only at pending-triage for triage', () => {
    const to: Record<FailedQueryEvent, FailedQueryStatus> = {
      'triage:sure': 'triaged',
      'triage:uncertain': 'pending-annotation',
      'verdict:retrieval-miss': 'promoted',
      'verdict:coverage-gap': 'annotated',
      'verdict:irrelevant': 'dismissed',
    }
    for (const event of EVENTS) {
      const from = event.startsWith('triage') ? (['pending-triage'] as const) : FAILED_QUERY_STATUSES
      expect(listMoves(event)).toEqual(from.map((status) => ({ from: status, to: to[event] })))
    }
  })

  test('never lead back to pending-triage, in any order of events', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...EVENTS), { minLength: 1 }), (events) => {
        let status: FailedQueryStatus = 'pending-triage'
        let decided = false
        for (const event of events) {
          const next: FailedQueryStatus | undefined = FAILED_QUERY_MOVES[status][event]
          if (event.startsWith('verdict')) decided = true
          else if (decided) expect(next).toBeUndefined()
          status = next ?? status
        }
        expect(status).not.toBe('pending-triage')
        expect(['annotated', 'dismissed', 'promoted'].includes(status)).toBe(decided)
      }),
    )
  })
})

describe('the rules of triage for failed queries', () => {
  const evidence = {
    terms: 4,
    specific: 3,
    known: 0,
    knownInOtherWords: 0,
    best: 0,
    sentence: 0,
    lacksKind: false,
    sameLanguage: true,
  }

  test.each([
    ['no similar passage: irrelevant', evidence, [], 'irrelevant'],
    ['a query without terms: uncertain', { ...evidence, terms: 0, specific: 0 }, [], 'uncertain'],
    ['everyday words that the space does not contain: uncertain', { ...evidence, specific: 1 }, [], 'uncertain'],
    [
      'everyday words that the space does not contain, distant vectors: irrelevant',
      { ...evidence, specific: 1, nearest: 0.3 },
      [],
      'irrelevant',
    ],
    ['no similar passage, but near vectors: uncertain', { ...evidence, nearest: 0.7 }, [], 'uncertain'],
    [
      'a question in another language than the space: uncertain',
      { ...evidence, sameLanguage: false },
      ['other-language'],
      'uncertain',
    ],
    ['a long question: uncertain', { ...evidence, terms: 25 }, ['long-question'], 'uncertain'],
    ['withheld passages: uncertain', evidence, ['withheld'], 'uncertain'],
    ['an unpublished document that the question names: retrieval-miss', evidence, ['not-published'], 'retrieval-miss'],
    ['few of the terms in one passage: uncertain', { ...evidence, best: 0.25 }, [], 'uncertain'],
    ['many of the terms in one passage: retrieval-miss', { ...evidence, best: 0.3 }, [], 'retrieval-miss'],
    [
      'many of the terms without the requested type of answer: coverage-gap',
      { ...evidence, best: 0.9 },
      ['kind-missing'],
      'coverage-gap',
    ],
    [
      'few of the terms of a long question in one passage: retrieval-miss',
      { ...evidence, terms: 25, best: 0.15 },
      ['long-question'],
      'retrieval-miss',
    ],
  ] satisfies [string, typeof evidence & { nearest?: number }, TriageCause[], string][])(
    '%s',
    (_, given, causes, verdict) => {
      expect(judgeTriageEvidence(given, causes)).toBe(verdict)
    },
  )

  test.each([
    ['answered', 0.1, 'retrieval-miss'],
    ['related', 0.9, 'coverage-gap'],
    ['unrelated', 0.4, 'irrelevant'],
    ['unrelated', 0.5, 'uncertain'],
  ] as const)(
    'with the model opinion "%s" and the fraction %d of terms in one passage: %s',
    (opinion, best, verdict) => {
      expect(judgeOpinion({ verdict: opinion, passages: [] }, { best })).toBe(verdict)
    },
  )
})

describe('the trigger of a failed query', () => {
  test.each([
    ['not-enough-evidence', [], 'no-retrieval-evidence'],
    ['answerable', [], 'abstained'],
    ['partial', [], 'abstained'],
    ['partial', [1], 'low-confidence'],
    ['partial', undefined, 'low-confidence'],
    ['answerable', [1], undefined],
    ['answerable', undefined, undefined],
    ['conflict', [1, 2], undefined],
  ] as const)('for the evidence state %s and the cited passages %j: %s', (state, cited, trigger) => {
    expect(findFailureTrigger(state, cited)).toBe(trigger)
  })
})

describe('the keys of failed queries', () => {
  test('ignore case, spacing, width and final punctuation only', () => {
    for (const same of ['What is DNS', ' what  is\tdns?', 'WHAT IS DNS ?!', 'what is ｄｎｓ？'])
      expect(toQueryKey(same)).toBe(toQueryKey('What is DNS?'))
    for (const other of ['what is dns2', 'is what dns', '???', ''])
      expect(toQueryKey(other)).not.toBe(toQueryKey('dns'))
    expect(toQueryKey('?')).not.toBe(toQueryKey('!'))
  })

  test('for clusters equal each other if the queries have the same terms in any order and form', () => {
    expect(toClusterKey('How do I reset my password?')).toBe(toClusterKey('password resets'))
    expect(toClusterKey('reset password')).not.toBe(toClusterKey('reset token'))
    expect(toClusterKey('?!')).not.toBe(toClusterKey('…'))
    expect(toClusterKey('潮汐是什么')).toBe(toClusterKey('潮汐'))
  })

  test('for clusters have a bounded length, and do not depend on the order of words', () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[b-z]{3,20}$/), { minLength: 1, maxLength: 60 }), (words) => {
        const key = toClusterKey(words.join(' '))
        expect(key).toBe(toClusterKey([...words].reverse().join(' ')))
        expect(key.length).toBeLessThan(260)
      }),
    )
  })
})
