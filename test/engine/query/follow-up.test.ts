import { describe, expect, it } from 'vitest'
import { followUpOf, searchedQuery } from '../../../src/engine/query/follow-up.js'

const turn = (query: string) => ({ query, answer: '' })
const WHOLE = 'How high is the lighthouse of Eckmuhl?'
const OTHER = 'Who invented the stepped lens?'

describe('a question that follows others', () => {
  it.each([
    'And who built it?',
    'What about its keepers there?',
    'And then?',
    'Keepers?',
    '它的高度是多少？',
    'why was he there',
  ])('goes on from the last that stood by itself: %s', (query) => {
    const turns = [turn(OTHER), turn(WHOLE), turn('And then?')]
    expect(followUpOf(query, turns)?.anchor).toBe(WHOLE)
    expect(searchedQuery(query, turns)).toBe(`${query}\n\n${WHOLE}`)
  })

  it.each([WHOLE, 'Which keepers live on the island of Sein?', '灯塔有多高'])('stands by itself: %s', (query) => {
    expect(followUpOf(query, [turn(OTHER)])).toBeUndefined()
    expect(searchedQuery(query, [turn(OTHER)])).toBe(query)
  })

  it('goes on from nothing where nothing came before', () => {
    expect(followUpOf('And then?', [])).toBeUndefined()
    expect(searchedQuery('And then?', [])).toBe('And then?')
  })

  it('goes on from the first where none stood by itself', () => {
    expect(followUpOf('And then?', [turn('And it?'), turn('Why?')])?.anchor).toBe('And it?')
  })

  it('asks about words of its own, each once, and is short with fewer than two of them', () => {
    const of = (query: string) => followUpOf(query, [turn(WHOLE)])
    expect(of('And then?')).toMatchObject({ ownTerms: [], isShort: true })
    expect(of('And its keepers, the keepers?')).toMatchObject({ ownTerms: ['keeper'], isShort: true })
    expect(of('Which keepers painted it?')).toMatchObject({ ownTerms: ['keeper', 'paint'], isShort: false })
    // words that stand for something else say nothing of their own
    expect(of('What about the former ones?')?.ownTerms).toEqual([])
  })
})
