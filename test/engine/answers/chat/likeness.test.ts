import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  computeClampedCosine,
  computeWordOverlap,
  hasEqualWords,
} from '../../../../src/engine/answers/chat/annotations/similarity.js'

test('questions count as equal despite case, spaces and punctuation, but not with other words', () => {
  expect(hasEqualWords('When do you open?', '  when DO you  open ')).toBe(true)
  expect(hasEqualWords('When do you open?', 'Where do you open?')).toBe(false)
  expect(hasEqualWords('?', '!')).toBe(false)
  expect(hasEqualWords('何時に開きますか', '何時に開きますか？')).toBe(true)
})

test('the word overlap of two texts is symmetric and lies between 0 and 1', () => {
  expect(computeWordOverlap('How much is a blue kettle?', 'How much is a red kettle?')).toBeCloseTo(5 / 6)
  expect(computeWordOverlap('', '')).toBe(0)
  fc.assert(
    fc.property(fc.string(), fc.string(), (a, b) => {
      const score = computeWordOverlap(a, b)
      expect(score).toBe(computeWordOverlap(b, a))
      expect(score).toBeGreaterThanOrEqual(0)
      expect(score).toBeLessThanOrEqual(1 + 1e-12)
    }),
  )
})

test('the similarity of opposite vectors and of vectors of different lengths is 0', () => {
  expect(computeClampedCosine(Float32Array.of(1, 0), Float32Array.of(1, 0))).toBe(1)
  expect(computeClampedCosine(Float32Array.of(1, 0), Float32Array.of(-1, 0))).toBe(0)
  expect(computeClampedCosine(Float32Array.of(1, 0), Float32Array.of(1))).toBe(0)
})
