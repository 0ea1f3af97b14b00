import { describe, expect, it } from 'vitest'
import { createTableHeads } from '../../../src/engine/readers/tables/passages.js'
import { measureGrowth } from '../../helpers/processor-time.js'

/** Looks up the section head above passages at this distance. */
async function above(text: string, apart: number): Promise<void> {
  const heads = createTableHeads(text, {})
  for (let start = 0; start < text.length; start += apart) heads.above(start)
}

describe('the section head above a table passage', () => {
  it('comes from the last row with a single cell before rows of several cells', () => {
    const text = 'Income\na | 1\n\nb | 2\nCosts\nc | 3\nc | 4'
    const heads = createTableHeads(text, {})
    expect(heads.above(text.indexOf('a |'))).toBe('Income\n')
    expect(heads.above(text.indexOf('b |'))).toBe('Income\n')
    expect(heads.above(text.indexOf('c | 4'))).toBe('Costs\n')
    expect([heads.above(0), heads.above(text.indexOf('Costs')), heads.above(text.length - 1)]).toEqual(['', '', ''])
  })

  // Sizes at which a separate search for each passage takes seconds, and a single pass milliseconds.
  it.each([
    ['one row of half a million cells', (size: number) => 'a | '.repeat(size), 800],
    ['hundreds of thousands of rows without a head', (size: number) => 'a | b\n'.repeat(size / 8), 100],
    ['rows of one cell', (size: number) => 'a\n'.repeat(size / 4), 100],
  ])('takes linear time in a table of %s', { timeout: 240_000 }, async (_label, make, apart) => {
    expect(await measureGrowth((size) => above(make(size), apart), { size: 1_000_000, floorMs: 300 })).toMatchObject({
      isLinear: true,
    })
  })
})
