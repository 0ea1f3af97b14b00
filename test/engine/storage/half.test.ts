import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeHalfInto, encodeHalf } from '../../../src/engine/storage/half.js'

describe('half-precision vectors', () => {
  it('come back within the precision of eleven bits', () => {
    fc.assert(
      fc.property(fc.array(fc.float({ min: -1, max: 1, noNaN: true }), { maxLength: 64 }), (numbers) => {
        const vector = Float32Array.from(numbers)
        const back = new Float32Array(vector.length)
        expect(decodeHalfInto(encodeHalf(vector), back, 0)).toBe(vector.length)
        vector.forEach((value, index) => {
          expect(Math.abs(value - back[index])).toBeLessThanOrEqual(Math.max(Math.abs(value) * 2 ** -11, 2 ** -24))
        })
      }),
    )
  })

  it('keep values that a half can hold exactly', () => {
    const exact = Float32Array.from([0, 1, -1, 0.5, -0.25, 0.125, 1.5, 65504, 2 ** -14, 2 ** -24])
    const back = new Float32Array(exact.length)
    decodeHalfInto(encodeHalf(exact), back, 0)
    expect([...back]).toEqual([...exact])
  })
})
