import { describe, expect, it } from 'vitest'
import { readStatements, stemOf, vocabulary } from '../../../../src/engine/query/conflicts/statements.js'

function only(sentence: string) {
  const [statement] = readStatements([sentence], [true])
  if (statement === undefined) throw new Error(`no statement: ${sentence}`)
  return statement
}
const concept = (word: string) => vocabulary().concept(stemOf(word))

describe('phrases that say what one word says', () => {
  it.each([
    ['The rent went up in Brest.', 'The rent increased in Brest.'],
    ['The rent goes down in Brest.', 'The rent decreased in Brest.'],
    ['The strike came to an end in Brest.', 'The strike ended in Brest.'],
    ['The law came into force in Brest.', 'The law took effect in Brest.'],
    ['The fair took place in Brest.', 'The fair was held in Brest.'],
    ['The club was set up in Brest.', 'The club was founded in Brest.'],
    ['The plain text is in Brest.', 'The plaintext is in Brest.'],
    ['The time zone is of Brest.', 'The timezone is of Brest.'],
    ['The open-source code is of Brest.', 'The opensource code is of Brest.'],
    ['Ada is in charge of Brest.', 'Ada is responsible for Brest.'],
    ['The lamp was switched on in Brest.', 'The lamp was enabled in Brest.'],
    ['The lamp was turned off in Brest.', 'The lamp was disabled in Brest.'],
    ['Entry is at no cost in Brest.', 'Entry is free in Brest.'],
    ['The lamp is no longer red.', 'The lamp is not red.'],
    ["The lamp can't burn red.", 'The lamp can not burn red.'],
  ])('%s | %s', (one, other) => {
    const [left, right] = [only(one), only(other)]
    expect([...left.concepts].sort()).toEqual([...right.concepts].sort())
    expect([...left.ends].map(([scale, { end }]) => [scale, end])).toEqual(
      [...right.ends].map(([scale, { end }]) => [scale, end]),
    )
    expect(left.denied).toBe(right.denied)
  })

  it('in units and hours', () => {
    expect(only('The water is 5 degrees celsius.').quantities).toMatchObject([{ measure: 'temperature', low: 5 }])
    expect(only('The water is 50 degrees fahrenheit.').quantities[0]?.low).toBeCloseTo(10, 6)
    const told = ({ concepts, quantities }: ReturnType<typeof only>) => [
      [...concepts].sort(),
      quantities.map(({ low }) => low),
    ]
    expect(told(only('The hall is open until 9 pm.'))).toEqual(told(only('The hall closes at 9 pm.')))
  })
})

describe('what is denied', () => {
  it('is the first word behind the denial, not the first of the clause', () => {
    expect(only('The lamp burns oil not gas.').denied).toBe(concept('gas'))
    expect(only('The lamp burns oil not.').denied).toBe(concept('burns'))
  })

  it('of another thing alone is left out of the clause', () => {
    expect(only('The museum is open but not the kitchen.').concepts.has(concept('kitchen'))).toBe(false)
    expect(only('The museum and the kitchen are open.').concepts.has(concept('kitchen'))).toBe(true)
  })
})
