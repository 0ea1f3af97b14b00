import { describe, expect, it } from 'vitest'
import {
  readStatements,
  type Statement,
  stemOf,
  vocabulary,
} from '../../../../src/engine/query/conflicts/statements.js'

const read = (...sentences: string[]) =>
  readStatements(
    sentences,
    sentences.map(() => true),
  )
function only(sentence: string): Statement {
  const [statement, other] = read(sentence)
  if (statement === undefined || other !== undefined) throw new Error(`not one statement: ${sentence}`)
  return statement
}
const shown = ({ words }: Statement) => words.map((word) => word.shown)
const ends = (sentence: string) => {
  const told = new Map([...only(sentence).ends].map(([scale, { end }]) => [scale, end]))
  return (word: string) => told.get(vocabulary().opposite(stemOf(word))?.scale ?? '')
}

describe('the clauses of a sentence', () => {
  it.each<[string, number]>([
    ['The museum opens at nine.', 1],
    ['The museum opens at nine, but the café opens at ten.', 2],
    ['The museum is old; the café is new.', 2],
    ['The museum opens at nine and costs 5 euros.', 2],
    ['The museum is open but not the café.', 1],
    ['The museum and the café are open.', 1],
    ['Das Museum ist alt, während das Café neu ist.', 2],
    ['Lamp', 0],
  ])('%s: %i', (sentence, count) => {
    expect(read(sentence)).toHaveLength(count)
  })

  it('are none of text without stops', () => {
    const words = (count: number) => `The lamp is ${'red '.repeat(count)}`
    expect(read(words(77))).toHaveLength(1)
    expect(read(words(78))).toHaveLength(0)
  })

  it('take their subject from the one before where they leave it out, or point back to it', () => {
    for (const sentences of [
      ['The museum of Brest opens at nine and costs 5 euros.'],
      ['The museum of Brest is old.', 'It closes at six.'],
    ]) {
      const last = read(...sentences).at(-1)
      expect(shown(last ?? only('x y'))).toContain('museum')
    }
    const far = ['The museum is old.', 'Nothing.', 'Nothing.', 'It closes at six.']
    const apart = readStatements(far, [true, false, false, true])
    expect(shown(apart.at(-1) ?? only('x y'))).not.toContain('museum')
    expect(apart.map(({ sentence }) => sentence)).toEqual(['The museum is old.', 'It closes at six.'])
  })

  it('give their subject though they are not wanted, where the next one is', () => {
    const found = readStatements(['The museum is old.', 'It closes at six.'], [false, true])
    expect(found).toHaveLength(1)
    expect(found.flatMap(shown)).toContain('museum')
  })
})

describe('the words of a clause', () => {
  it('are its content words, which of them are names, and which stand before the verb', () => {
    const { words } = only('The director of Brest repairs the lamp.')
    expect(words.map(({ shown: word, isName, isSubject }) => [word, isName, isSubject])).toEqual(
      expect.arrayContaining([
        ['director', false, true],
        ['Brest', true, true],
        ['lamp', false, false],
      ]),
    )
    expect(shown(only('It is of the lamp.'))).toEqual(['lamp'])
  })

  it('are nouns where an article or a preposition stands before them', () => {
    const nouns = only('The lamp burns oil in winter.').words.filter(({ isNoun }) => isNoun)
    expect(nouns.map((word) => word.shown)).toEqual(['lamp', 'winter'])
  })

  it('of one meaning are one concept', () => {
    const [one, other] = [only('The lamp was founded here.'), only('The lamp was set up here.')]
    expect([...one.concepts]).toEqual([...other.concepts])
  })

  it('are no numbers of versions and models, which count nothing', () => {
    expect(only('The Trek 2 watch floats.').quantities).toEqual([])
    expect(only('The crew has 2 boats.').quantities).toHaveLength(1)
  })

  it('of German keep their capitals without being names', () => {
    const { isGerman, words } = only('Der Turm ist mit der Lampe verbunden.')
    expect(isGerman).toBe(true)
    expect(words.every(({ isName }) => !isName)).toBe(true)
    expect(only('The tower of Brest is lit.').isGerman).toBe(false)
  })
})

describe('what a clause says', () => {
  it('in numbers and dates', () => {
    const { quantities, moments } = only('The tower was built in 1908 and measures 40 metres.'.split(' and ')[0] ?? '')
    expect(quantities).toEqual([])
    expect(moments.map(({ year }) => year)).toEqual([1908])
    expect(only('The tower measures 40 metres.').quantities).toMatchObject([{ low: 40, high: 40 }])
  })

  it('of an age in years', () => {
    const year = 365.25 * 86_400
    expect(only('The minimum age is 18.').quantities).toMatchObject([
      { measure: 'time', low: 18 * year, high: 18 * year },
    ])
    expect(only('The minimum is 18.').quantities).toMatchObject([{ measure: 'count', low: 18 }])
  })

  it('in words with an opposite, turned round where it is denied', () => {
    expect(ends('Dogs are allowed in the hall.')('allow')).toBe(1)
    expect(ends('Dogs are forbidden in the hall.')('allow')).toBe(-1)
    expect(ends('Dogs are not allowed in the hall.')('allow')).toBe(-1)
    expect(ends('Dogs are not forbidden in the hall.')('allow')).toBe(1)
    expect(ends('The switch is turned on.')('enable')).toBe(ends('The switch is enabled.')('enable'))
    expect(ends('The switch is turned off.')('enable')).toBe(-(ends('The switch is enabled.')('enable') ?? 0))
    expect(ends('Entry is free of charge.')('free')).toBe(1)
    expect(ends('The lamp is of brass.')('allow')).toBeUndefined()
  })

  it('of being able, which is weaker than being allowed', () => {
    const weak = (sentence: string) => only(sentence).ends.get(vocabulary().opposite(stemOf('allow'))?.scale ?? '')
    expect(weak('Dogs may enter the hall.')).toMatchObject({ end: 1, isWeak: true })
    expect(weak('Dogs may not enter the hall.')).toMatchObject({ end: -1, isWeak: true })
    expect(weak('Dogs can not enter the hall.')).toMatchObject({ end: -1 })
    expect(weak('Dogs cannot enter the hall.')).toMatchObject({ end: -1 })
    expect(weak('Dogs may be old.')).toBeUndefined()
    expect(weak('Dogs may enter, it is allowed.')?.isWeak).toBeUndefined()
  })

  it('by a denial, of the first word behind it', () => {
    expect(only('The lamp is of brass.').denied).toBeUndefined()
    expect(only('The lamp is not red.').denied).toBe(vocabulary().concept(stemOf('red')))
    expect(only("The lamp isn't red.").denied).toBe(vocabulary().concept(stemOf('red')))
    expect(only('The lamp is no longer red.').denied).toBe(vocabulary().concept(stemOf('red')))
    expect(only('Die Lampe ist nicht rot.').denied).toBeDefined()
    expect(only('The lamp is not red.').words.map(({ shown: word, isDenied }) => [word, isDenied])).toEqual([
      ['lamp', false],
      ['red', true],
    ])
    // a comma ends it
    expect(only('Not red, the lamp is blue.').words.find(({ shown: word }) => word === 'blue')?.isDenied).toBe(false)
    expect([only('The lamp is never red.').isNever, only('The lamp is not red.').isNever]).toEqual([true, false])
  })

  it('with a verb, where there is one', () => {
    expect(only('The keeper repairs the lamp.').verb).toBe('repairs')
    expect(only('The keeper polished the lamp.')).toMatchObject({ verb: 'polished', verbAt: 2 })
    expect(only('The keeper is old.')).toMatchObject({ verb: 'is', verbAt: 2 })
    expect(only('A lamp of brass')).toMatchObject({ verb: '', verbAt: undefined })
  })

  it('in a line of concepts in which numbers and dates are places', () => {
    const { line } = only('The tower measures 40 metres.')
    expect(line.map(({ key }) => key)).toEqual([
      'the',
      vocabulary().concept(stemOf('tower')),
      expect.any(String),
      '#',
      '.',
    ])
  })
})
