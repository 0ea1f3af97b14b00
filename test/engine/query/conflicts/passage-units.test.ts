import { describe, expect, it } from 'vitest'
import { unitsOf } from '../../../../src/engine/query/conflicts/passage-units.js'

const read = (text: string) => unitsOf(text).map(({ label, text: value }) => [label, value])

describe('units of a passage', () => {
  it('are the cells of a table with the heads of their row and column', () => {
    expect(read('Item | Deposit | Days\nProjector | £40 | 3\nTent |  | 14')).toEqual([
      ['Projector Deposit', '£40'],
      ['Projector Days', '3'],
      ['Tent Days', '14'],
    ])
    expect(unitsOf('Item | Days\nTent | 14')[0]?.quote).toBe('Item: Tent; Days: 14')
  })

  it('are the labelled values of a list or of lines', () => {
    expect(read('- **Bin collection:** Tuesday\nDoor code: 4411\noutreach      bleep 400')).toEqual([
      ['Bin collection', 'Tuesday'],
      ['Door code', '4411'],
      ['outreach', 'bleep 400'],
    ])
  })

  it('are sentences elsewhere, also behind a long label, and never questions', () => {
    expect(
      read(
        'Is it open? The pool is warm.\nNote: the pool is closed on the first Monday of each month for the cleaning.',
      ),
    ).toEqual([
      [undefined, 'The pool is warm.'],
      [undefined, 'Note: the pool is closed on the first Monday of each month for the cleaning.'],
    ])
  })
})
