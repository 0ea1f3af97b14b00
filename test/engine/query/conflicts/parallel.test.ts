import { expect, it } from 'vitest'
import { exchanged } from '../../../../src/engine/query/conflicts/parallel.js'
import { areParallel, titleWords } from '../../../../src/engine/query/conflicts/titles.js'

const line = (text: string) => text.split(' ').flatMap((key, place) => (key === '' ? [] : [{ key, place }]))
const runs = (one: string, two: string) => exchanged(line(one), line(two))

it.each<[string, string, [number[], number[]][]]>([
  ['the point of tin is #', 'the point of lead is #', [[[3], [3]]]],
  ['the point of soft tin is #', 'the point of lead is #', [[[3, 4], [3]]]],
  ['tin is #', 'lead is #', [[[0], [0]]]],
  ['it is tin', 'it is lead', [[[2], [2]]]],
  [
    'a tin melts at once',
    'a lead melts at last',
    [
      [[1], [1]],
      [[4], [4]],
    ],
  ],
  ['it is so', 'it is so', []],
  ['it is very so', 'it is so', []],
  ['tin', 'lead', []],
  ['', 'lead is', []],
  ['lead is', '', []],
])('what stands in the place of another: %s | %s', (one, two, expected) => {
  expect(runs(one, two)).toEqual(expected)
})

it('titles are parallel where one word differs, and they have several', () => {
  const parallel = (one: string, two: string) => areParallel(titleWords(one), titleWords(two))
  expect(titleWords('Manual of Atlas-2')).toEqual(['manual', 'of', 'atlas', '2'])
  expect(titleWords('—')).toEqual([])
  expect(parallel('Manual of Atlas', 'Manual of Borealis')).toBe(true)
  expect(parallel('Manual Atlas', 'Manual Borealis')).toBe(true)
  expect(parallel('Manual of Atlas', 'Manual of Atlas')).toBe(false)
  expect(parallel('Manual of Atlas', 'Guide of Borealis')).toBe(false)
  expect(parallel('Atlas', 'Borealis')).toBe(false)
  expect(parallel('Manual of Atlas', 'Manual of the Atlas')).toBe(false)
})
