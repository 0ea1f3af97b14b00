import { expect, it } from 'vitest'
import { makeCorpus, makeNotes } from '../../bench/lib/corpus.js'
import { countBars, oneTable } from '../../bench/lib/one-table.js'
import { costPlot, pointsOf, roundUp } from '../../bench/lib/plot.js'
import { type Figure, holds, percentile } from '../../bench/lib/report.js'
import { acrossRounds, inTurns, ratioOf } from '../../bench/lib/turns.js'

const held: Figure = { name: 'p50', value: 0.9, unit: '', bar: { atMost: 1 }, beside: 'LanceDB', spread: [0.8, 1.1] }
const missed: Figure = { name: 'rate', value: 185, unit: 'notes/s', bar: { atLeast: 615 } }
const told: Figure = { name: 'recall', value: 0.98, unit: '' }

it('a percentile is the smallest sample that at most the given fraction lies above', () => {
  const samples = [5, 1, 4, 2, 3]
  expect([0, 0.2, 0.5, 0.95, 1].map((share) => percentile(samples, share))).toEqual([1, 1, 3, 5, 5])
  expect(percentile([], 0.5)).toBeNaN()
})

it('a limit includes its value, and applies in its direction', () => {
  expect(holds({ name: '', value: 1, unit: '', bar: { atMost: 1 } })).toBe(true)
  expect(holds({ name: '', value: 1.001, unit: '', bar: { atMost: 1 } })).toBe(false)
  expect(holds({ name: '', value: 1, unit: '', bar: { atLeast: 1 } })).toBe(true)
  expect(holds({ name: '', value: 0.999, unit: '', bar: { atLeast: 1 } })).toBe(false)
  expect(holds(told)).toBe(true)
})

it('a figure that could not be computed misses its limit', () => {
  expect(holds({ name: '', value: Number.NaN, unit: '', bar: { atMost: 1 } })).toBe(false)
  expect(holds({ name: '', value: Number.NaN, unit: '', bar: { atLeast: 1 } })).toBe(false)
})

it('the table shows figures with a limit or a comparison, met or missed', () => {
  const table = oneTable([{ name: 'query', figures: [held, missed, told] }], true)
  expect(table.split('\n')).toEqual([
    'part   what  figure            bar                     relative to, or how',
    'query  p50   0.9 [0.8 to 1.1]  <= 1            held    LanceDB',
    'query  rate  185 notes/s       >= 615 notes/s  MISSED',
    '',
  ])
})

it('the table marks every limit as not counted when sizes are small', () => {
  const table = oneTable([{ name: 'query', figures: [held, missed] }], false)
  expect(table).not.toMatch(/held|MISSED/)
  expect(table.match(/not counted/g)).toHaveLength(2)
})

it('a failed part counts as a missed limit, and the table shows the reason', () => {
  const parts = [
    { name: 'query', figures: [held, missed, told] },
    { name: 'ingest', failure: 'ended with 1' },
  ]
  expect(countBars(parts)).toEqual({ bars: 3, missed: 2 })
  expect(oneTable(parts, true)).toMatch(/ingest +ended with 1 +FAILED/)
})

it('the result over rounds is the median, with minimum and maximum', () => {
  expect(acrossRounds([3, 1, 2])).toEqual({ value: 2, spread: [1, 3] })
})

it('a ratio is computed within each round, so that a slow minute does not matter', () => {
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
  expect(ratioOf(ours, theirs)).toEqual({ value: 2, spread: [2, 3] })
})

it('every side gets every question once, in blocks, with alternating order', async () => {
  const order: string[] = []
  const side = (name: string) => async (places: number[]) => {
    order.push(`${name}${places[0]}`)
    return places
  }
  const places = Array.from({ length: 60 }, (_, place) => place)
  const times = await inTurns({ a: side('a'), b: side('b') }, places)
  expect(times).toEqual({ a: places, b: places })
  expect(order).toEqual(['a0', 'b0', 'b25', 'a25', 'a50', 'b50'])
})

it('the corpus is the same each time, and its files contain every passage', () => {
  const [one, again] = [makeCorpus(45), makeCorpus(45)]
  expect(again).toEqual({ ...one, files: expect.any(Function) })
  const files = [...one.files()]
  expect(files).toHaveLength(3)
  const text = files.map((file) => file.text).join('')
  for (const passage of one.passages) expect(text).toContain(`## ${passage.title}\n\n${passage.text}`)
})

it('generated notes have the requested length and distinct titles', () => {
  const notes = makeNotes(20, 1, 300)
  expect(new Set(notes.map(({ text }) => text.split('\n')[0])).size).toBe(20)
  for (const { text } of notes) expect(Math.abs(text.length - 300)).toBeLessThanOrEqual(20)
})

it('the plot orders the points of a line by size', () => {
  const at = (size: number, value: number): Figure => ({ name: '', value, unit: 'ms', point: { line: 'p50', size } })
  const figures = [at(100_000, 23), told, at(10_000, 14.4)]
  expect(pointsOf(figures, 'p50')).toEqual([
    { size: 10_000, value: 14.4 },
    { size: 100_000, value: 23 },
  ])
  const plot = costPlot(figures, 'here & now')
  expect(plot).toContain('10k passages: 14.4 ms')
  expect(plot).toContain('100k passages: 23 ms')
  expect(plot).toContain('here &amp; now')
  expect(plot.match(/not measured in this run/g)).toHaveLength(3)
  expect(plot).not.toContain('NaN')
})

it('a scale ends at a round number that divides into four steps', () => {
  expect([0, 1, 23, 40, 101, 7e5].map(roundUp)).toEqual([1, 1, 40, 40, 200, 800_000])
})
