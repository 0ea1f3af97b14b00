import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeHalfInto, encodeHalf } from '../../../src/engine/store/half.js'

describe('half-precision vectors', () => {
  it('round-trip with a precision of eleven bits', () => {
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

  it('preserve values that a half-precision number represents exactly', () => {
    const exact = Float32Array.from([0, 1, -1, 0.5, -0.25, 0.125, 1.5, 65504, 2 ** -14, 2 ** -24])
    const back = new Float32Array(exact.length)
    decodeHalfInto(encodeHalf(exact), back, 0)
    expect([...back]).toEqual([...exact])
  })
})

describe('a half-precision number', () => {
  const back = (value: number) => {
    const target = new Float32Array(1)
    decodeHalfInto(encodeHalf(Float32Array.of(value)), target, 0)
    return target[0]
  }

  it('survives decoding and encoding, for all 65,536 values', () => {
    const halves = Uint16Array.from({ length: 65_536 }, (_, half) => half)
    const floats = new Float32Array(halves.length)
    expect(decodeHalfInto(new Uint8Array(halves.buffer), floats, 0)).toBe(65_536)
    const again = new Uint16Array(encodeHalf(floats).buffer)
    const wrong = halves.filter((half, place) => !Number.isNaN(floats[half]) && again[place] !== half)
    expect([...wrong]).toEqual([])
  })

  it('encodes a number between two neighbours as the nearest of them', () => {
    for (const [low, high] of [
      [1, 1 + 2 ** -10],
      [2 ** -14, 2 ** -14 + 2 ** -24],
      [2 ** -24, 2 ** -23],
      [0, 2 ** -24],
      [1024, 1025],
    ]) {
      expect(back(low + (high - low) * 0.45)).toBe(low)
      expect(back(low + (high - low) * 0.55)).toBe(high)
      expect(back(-low - (high - low) * 0.55)).toBe(-high)
    }
  })

  it('overflows to infinity and underflows to zero', () => {
    expect([1e6, -1e6, Number.POSITIVE_INFINITY].map(back)).toEqual([
      ...[Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
    ])
    expect(back(2 ** -26)).toBe(0)
    expect(Object.is(back(-(2 ** -26)), -0)).toBe(true)
    expect(back(65_504)).toBe(65_504)
  })

  it('decodes at the given offset of the target, and ignores an odd byte', () => {
    const target = new Float32Array(3)
    expect(decodeHalfInto(encodeHalf(Float32Array.of(1, 2)), target, 1)).toBe(2)
    expect([...target]).toEqual([0, 1, 2])
    expect(decodeHalfInto(new Uint8Array([0, 60, 1]), target, 0)).toBe(1)
  })
})
