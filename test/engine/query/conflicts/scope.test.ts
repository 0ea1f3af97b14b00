import { describe, expect, it } from 'vitest'
import { otherScope, scopeOf } from '../../../../src/engine/query/conflicts/scope.js'

const NEVER = () => false
const between = (one: string, other: string, isAsked: (word: string) => boolean = NEVER, isValue = NEVER) =>
  otherScope(scopeOf(one), scopeOf(other), isAsked, isValue)

describe('what narrows a statement', () => {
  it.each<[string, string, string]>([
    ['version', 'Version 2.1 uses port 80.', '2.1'],
    ['version', 'The second edition has maps.', 'second'],
    ['version', 'The Trek 2 watch floats.', '2'],
    ['plan', 'The Premium plan has 3 seats.', 'premium'],
    ['environment', 'The staging server is slow.', 'staging'],
    ['audience', 'Children pay half.', 'children'],
    ['age', 'Guests under 12 pay half.', 'under-12'],
    ['extent', 'In all it took a week.', 'in-all'],
    ['platform', 'On Android it fails.', 'android'],
    ['time of use', 'It closes on weekends.', 'weekend'],
    ['region', 'In Spain the tax is low.', 'spain'],
    ['which one', 'The upper deck is closed.', 'upper'],
  ])('%s: %s', (category, text, said) => {
    expect(scopeOf(text).parts.get(category)).toBe(said)
  })

  it('is sorted and joined where there are several, and nothing where nothing does', () => {
    expect(scopeOf('In Spain and France it rains.').parts.get('region')).toBe('france spain')
    expect(scopeOf('They told us of it.').parts.size).toBe(0)
    expect(scopeOf('Made in May 12 was it.').parts.has('version')).toBe(false)
  })

  it.each([
    ['isOpinion', 'Critics claim that it is dangerous.', 'It is dangerous.'],
    ['isConditional', 'If it rains, it is closed.', 'It is closed.'],
    ['isStaged', 'After the audit it is closed.', 'It is closed.'],
    ['isPast', 'Previously it was closed.', 'It is closed.'],
    ['isNewer', 'As of May it is closed.', 'It is closed.'],
  ] as const)('%s', (name, text, plain) => {
    expect([scopeOf(text)[name], scopeOf(plain)[name]]).toEqual([true, false])
  })
})

describe('two statements of different scope', () => {
  it.each<[string, string, { kind: string; reason: string } | undefined]>([
    ['It is safe.', 'It is safe.', undefined],
    ['It is safe.', 'Critics claim it is safe.', { kind: 'other', reason: 'an opinion' }],
    ['Critics claim it is safe.', 'It is safe.', { kind: 'other', reason: 'an opinion' }],
    ['It is open.', 'If it rains, it is open.', { kind: 'other', reason: 'under a condition' }],
    ['If it snows, it is open.', 'If it rains, it is open.', undefined],
    ['It is open.', 'Previously it was open.', { kind: 'newer', reason: 'of an earlier time' }],
    ['It is open.', 'As of May it is open.', { kind: 'newer', reason: 'takes the place of the other' }],
    ['Version 1 is red.', 'Version 2 is blue.', { kind: 'newer', reason: 'another version: 1, 2' }],
    ['In Spain it is red.', 'In Italy it is blue.', { kind: 'other', reason: 'another region: spain, italy' }],
    ['In Spain it is red.', 'In Spain and Italy it is blue.', undefined],
    ['It is red.', 'In Spain it is blue.', undefined],
    ['It is red.', 'The upper deck is blue.', undefined],
    ['It is red.', 'The Premium plan is blue.', { kind: 'other', reason: 'one speaks of premium alone' }],
    ['On Android it is red.', 'It is blue.', { kind: 'other', reason: 'one speaks of android alone' }],
  ])('%s | %s', (one, other, expected) => {
    expect(between(one, other)).toEqual(expected)
  })

  it('are not told apart by what the question asks about, or by what they disagree in', () => {
    expect(between('It is red.', 'The Premium plan is blue.', (word) => word === 'premium')).toBeUndefined()
    expect(between('In Spain it is made.', 'In Italy it is made.', NEVER, () => true)).toBeUndefined()
    expect(between('Version 1 is red.', 'Version 2 is blue.', NEVER, () => true)).toMatchObject({ kind: 'newer' })
  })
})
