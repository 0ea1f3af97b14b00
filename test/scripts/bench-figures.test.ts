import { expect, it } from 'vitest'
import { makeCorpus, makeNotes } from '../../bench/lib/corpus.js'
import { meetsBar, percentile } from '../../bench/lib/report.js'
import { computeRatio, measureInTurns, summarizeRounds } from '../../bench/lib/turns.js'

it('a percentile of the bench is the smallest sample such that at most the given fraction is above', () => {
  const samples = [5, 1, 4, 2, 3]
  expect([0, 0.2, 0.5, 0.95, 1].map((share) => percentile(samples, share))).toEqual([1, 1, 3, 5, 5])
  expect(percentile([], 0.5)).toBeNaN()
})

it('a bench value equal to its limit passes; a value beyond an upper or lower limit fails', () => {
  expect(meetsBar({ name: '', value: 1, unit: '', bar: { atMost: 1 } })).toBe(true)
  expect(meetsBar({ name: '', value: 1.001, unit: '', bar: { atMost: 1 } })).toBe(false)
  expect(meetsBar({ name: '', value: 1, unit: '', bar: { atLeast: 1 } })).toBe(true)
  expect(meetsBar({ name: '', value: 0.999, unit: '', bar: { atLeast: 1 } })).toBe(false)
  expect(meetsBar({ name: '', value: 0.98, unit: '' })).toBe(true)
})

it('a bench value that is NaN fails every limit', () => {
  expect(meetsBar({ name: '', value: Number.NaN, unit: '', bar: { atMost: 1 } })).toBe(false)
  expect(meetsBar({ name: '', value: Number.NaN, unit: '', bar: { atLeast: 1 } })).toBe(false)
})

it('the result of bench rounds is their median, with minimum and maximum', () => {
  expect(summarizeRounds([3, 1, 2])).toEqual({ value: 2, spread: [1, 3] })
})

it('a bench ratio is computed within each round, and its result is the median of the rounds', () => {
  const ours = [
    [10, 10],
    [100, 100],
    [30, 30],
  ]
  const theirs = [
    [5, 5],
    [50, 50],
    [10, 10],
  ]
  expect(computeRatio(ours, theirs)).toEqual({ value: 2, spread: [2, 3] })
})

it('every compared program gets every bench question once, in blocks of 25, in alternating order', async () => {
  const order: string[] = []
  const side = (name: string) => async (places: number[]) => {
    order.push(`${name}${places[0]}`)
    return places
  }
  const places = Array.from({ length: 60 }, (_, place) => place)
  const times = await measureInTurns({ a: side('a'), b: side('b') }, places)
  expect(times).toEqual({ a: places, b: places })
  expect(order).toEqual(['a0', 'b0', 'b25', 'a25', 'a50', 'b50'])
})

it('the bench corpus is the same each time, and its files contain every passage', () => {
  const [one, again] = [makeCorpus(45), makeCorpus(45)]
  expect(again).toEqual({ ...one, files: expect.any(Function) })
  const files = [...one.files()]
  expect(files).toHaveLength(3)
  const text = files.map((file) => file.text).join('')
  for (const passage of one.passages) expect(text).toContain(`## ${passage.title}\n\n${passage.text}`)
})

it('generated bench notes have the requested length and distinct titles', () => {
  const notes = makeNotes(20, 1, 300)
  expect(new Set(notes.map(({ text }) => text.split('\n')[0])).size).toBe(20)
  for (const { text } of notes) expect(Math.abs(text.length - 300)).toBeLessThanOrEqual(20)
})
