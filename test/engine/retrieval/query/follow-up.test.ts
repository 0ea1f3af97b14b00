import { describe, expect, it } from 'vitest'
import { findFollowUp, toSearchedQuery } from '../../../../src/engine/retrieval/query/follow-up.js'

const turn = (query: string) => ({ query, answer: '' })
const WHOLE = 'How high is the lighthouse of Eckmuhl?'
const OTHER = 'Who invented the stepped lens?'

describe('a question after earlier questions', () => {
  it.each([
    'And who built it?',
    'What about its keepers there?',
    'And then?',
    'Keepers?',
    '它的高度是多少？',
    'why was he there',
  ])('refers to the last complete question before it: %s', (query) => {
    const turns = [turn(OTHER), turn(WHOLE), turn('And then?')]
    expect(findFollowUp(query, turns)?.anchor).toBe(WHOLE)
    expect(toSearchedQuery(query, turns)).toBe(`${query}\n\n${WHOLE}`)
  })

  it.each([WHOLE, 'Which keepers live on the island of Sein?', '灯塔有多高'])('counts as complete: %s', (query) => {
    expect(findFollowUp(query, [turn(OTHER)])).toBeUndefined()
    expect(toSearchedQuery(query, [turn(OTHER)])).toBe(query)
  })

  it('refers to nothing without earlier turns', () => {
    expect(findFollowUp('And then?', [])).toBeUndefined()
    expect(toSearchedQuery('And then?', [])).toBe('And then?')
  })

  it('refers to the first question if no earlier question was complete', () => {
    expect(findFollowUp('And then?', [turn('And it?'), turn('Why?')])?.anchor).toBe('And it?')
  })

  it('lists each of its own terms once, and counts as short with fewer than two of them', () => {
    const of = (query: string) => findFollowUp(query, [turn(WHOLE)])
    expect(of('And then?')).toMatchObject({ ownTerms: [], isShort: true })
    expect(of('And its keepers, the keepers?')).toMatchObject({ ownTerms: ['keeper'], isShort: true })
    expect(of('Which keepers painted it?')).toMatchObject({ ownTerms: ['keeper', 'paint'], isShort: false })
    // Pro-forms such as "ones" are no terms of its own.
    expect(of('What about the former ones?')?.ownTerms).toEqual([])
  })
})
