import { describe, expect, it } from 'vitest'
import { splitPassage } from '../../../../src/engine/knowledge/statements/passage-units.js'

const read = (text: string) => splitPassage(text).map(({ label, text }) => [label, text])

describe('the units of a passage', () => {
  it('include table cells, with the heads of their row and column as label', () => {
    expect(read('Item | Deposit | Days\nProjector | £40 | 3\nTent |  | 14')).toEqual([
      ['Projector Deposit', '£40'],
      ['Projector Days', '3'],
      ['Tent Days', '14'],
    ])
    expect(splitPassage('Item | Days\nTent | 14')[0]?.quote).toBe('Item: Tent; Days: 14')
  })

  it('include the labelled values of lists and lines', () => {
    expect(read('- **Bin collection:** Tuesday\nDoor code: 4411\noutreach      bleep 400')).toEqual([
      ['Bin collection', 'Tuesday'],
      ['Door code', '4411'],
      ['outreach', 'bleep 400'],
    ])
  })

  it('include sentences, even after a long label, but no questions', () => {
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
