import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { FailedQueryStatus } from '../../../src/contract/gateway/failed-queries.js'
import { FAILED_QUERY_STATUSES } from '../../../src/contract/values.js'
import { clusterKey, queryKey, triggerOf } from '../../../src/engine/quality/capture.js'
import { FAILED_QUERY_MOVES, type FailedQueryEvent, movesOf } from '../../../src/engine/quality/moves.js'
import { judgeTerms } from '../../../src/engine/quality/triage.js'

const EVENTS: FailedQueryEvent[] = [
  'triage:sure',
  'triage:uncertain',
  'verdict:retrieval-miss',
  'verdict:coverage-gap',
  'verdict:irrelevant',
]

describe('the moves of a failed query', () => {
  test('are those of the document: a verdict from everywhere, triage only from where nobody has looked', () => {
    const to: Record<FailedQueryEvent, FailedQueryStatus> = {
      'triage:sure': 'triaged',
      'triage:uncertain': 'pending-annotation',
      'verdict:retrieval-miss': 'promoted',
      'verdict:coverage-gap': 'annotated',
      'verdict:irrelevant': 'dismissed',
    }
    for (const event of EVENTS) {
      const from = event.startsWith('triage') ? (['pending-triage'] as const) : FAILED_QUERY_STATUSES
      expect(movesOf(event)).toEqual(from.map((status) => ({ from: status, to: to[event] })))
    }
  })

  test('never lead back to waiting, whatever happens in whatever order', () => {
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

describe('the rules of triage', () => {
  test.each([
    [{ terms: 0, best: 0 }, 'irrelevant'],
    [{ terms: 3, best: 0 }, 'irrelevant'],
    [{ terms: 3, best: 0.249 }, 'irrelevant'],
    [{ terms: 3, best: 0.25 }, 'uncertain'],
    [{ terms: 3, best: 0.349 }, 'uncertain'],
    [{ terms: 3, best: 0.35 }, 'coverage-gap'],
    [{ terms: 3, best: 0.649 }, 'coverage-gap'],
    [{ terms: 3, best: 0.65 }, 'retrieval-miss'],
    [{ terms: 1, best: 1 }, 'retrieval-miss'],
  ] as const)('%j is %s', (evidence, verdict) => {
    expect(judgeTerms(evidence)).toBe(verdict)
  })
})

describe('what counts as failed', () => {
  test.each([
    ['not-enough-evidence', [], 'no-retrieval-evidence'],
    ['answerable', [], 'abstained'],
    ['partial', [], 'abstained'],
    ['partial', [1], 'low-confidence'],
    ['partial', undefined, 'low-confidence'],
    ['answerable', [1], undefined],
    ['answerable', undefined, undefined],
    ['conflict', [1, 2], undefined],
  ] as const)('%s citing %j is %s', (state, cited, trigger) => {
    expect(triggerOf(state, cited)).toBe(trigger)
  })
})

describe('queries that are taken for the same', () => {
  test('differ in case, spacing, width and final punctuation only', () => {
    for (const same of ['What is DNS', ' what  is\tdns?', 'WHAT IS DNS ?!', 'what is ｄｎｓ？'])
      expect(queryKey(same)).toBe(queryKey('What is DNS?'))
    for (const other of ['what is dns2', 'is what dns', '???', '']) expect(queryKey(other)).not.toBe(queryKey('dns'))
    expect(queryKey('?')).not.toBe(queryKey('!'))
  })

  test('cluster by their terms, in any order and form', () => {
    expect(clusterKey('How do I reset my password?')).toBe(clusterKey('password resets'))
    expect(clusterKey('reset password')).not.toBe(clusterKey('reset token'))
    expect(clusterKey('?!')).not.toBe(clusterKey('…'))
    expect(clusterKey('潮汐是什么')).toBe(clusterKey('潮汐'))
  })

  test('have keys of bounded length, the same in every order of their words', () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[b-z]{3,20}$/), { minLength: 1, maxLength: 60 }), (words) => {
        const key = clusterKey(words.join(' '))
        expect(key).toBe(clusterKey([...words].reverse().join(' ')))
        expect(key.length).toBeLessThan(260)
      }),
    )
  })
})
