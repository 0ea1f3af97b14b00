import { describe, expect, it } from 'vitest'
import { tableHeads } from '../../../src/engine/parse/tables/passages.js'
import { growth } from '../../helpers/processor-time.js'

/** Asks for what stands above passages that begin so far apart. */
async function above(text: string, apart: number): Promise<void> {
  const heads = tableHeads(text, {})
  for (let start = 0; start < text.length; start += apart) heads.above(start)
}

describe('What stands above a passage of a table', () => {
  it('is the last row of one cell with words, where more than one cell follows', () => {
    const text = 'Income\na | 1\n\nb | 2\nCosts\nc | 3\nc | 4'
    const heads = tableHeads(text, {})
    expect(heads.above(text.indexOf('a |'))).toBe('Income\n')
    expect(heads.above(text.indexOf('b |'))).toBe('Income\n')
    expect(heads.above(text.indexOf('c | 4'))).toBe('Costs\n')
    expect([heads.above(0), heads.above(text.indexOf('Costs')), heads.above(text.length - 1)]).toEqual(['', '', ''])
  })

  // sizes at which what is looked for once more for each passage takes seconds, and in one pass milliseconds
  it.each([
    ['one row of half a million cells', (size: number) => 'a | '.repeat(size), 800],
    ['hundreds of thousands of rows without a head', (size: number) => 'a | b\n'.repeat(size / 8), 100],
    ['rows of one cell', (size: number) => 'a\n'.repeat(size / 4), 100],
  ])('is found in linear time in a table of %s', { timeout: 240_000 }, async (_label, make, apart) => {
    expect(await growth((size) => above(make(size), apart), { size: 1_000_000, floorMs: 300 })).toMatchObject({
      isLinear: true,
    })
  })
})
