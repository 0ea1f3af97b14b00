import { afterEach, expect, it, vi } from 'vitest'
import { ApplyQueue } from '../../../src/engine/search/apply-queue.js'
import { ProcessGoneError } from '../../../src/engine/search/index-process.js'
import { type IndexBatch, IndexProcessDied } from '../../../src/engine/search/ports.js'

const batch = (seq: number, nodes: number): IndexBatch => ({
  seq,
  remove: [],
  add: Array.from({ length: nodes }, (_, n) => ({ key: seq * 1_000 + n, doc: seq, title: '', body: '' })),
})

it('changes that wait together are committed in order, in groups that searches do not wait long for', async () => {
  const commits: IndexBatch[][] = []
  const queue = new ApplyQueue(async (batches) => {
    commits.push(batches)
  })
  await Promise.all(Array.from({ length: 40 }, (_, n) => queue.push(batch(n + 1, 120))))
  expect(commits.flat().map(({ seq }) => seq)).toEqual(Array.from({ length: 40 }, (_, n) => n + 1))
  for (const group of commits) expect(group.reduce((sum, { add }) => sum + add.length, 0)).toBeLessThanOrEqual(500)
  expect(commits.length).toBeLessThan(40)
})

it('small changes of one moment share a commit', async () => {
  let commits = 0
  const queue = new ApplyQueue(async () => {
    commits++
  })
  await Promise.all(Array.from({ length: 100 }, (_, n) => queue.push(batch(n + 1, 1))))
  expect(commits).toBe(1)
})

afterEach(() => void vi.restoreAllMocks())

/** A queue whose process ends under its first commits. */
function dying(ends: number, byFault: boolean): { queue: ApplyQueue; tries: () => number } {
  let tries = 0
  const queue = new ApplyQueue(async () => {
    if (++tries <= ends) throw new ProcessGoneError(byFault)
  })
  return { queue, tries: () => tries }
}

it('a change is taken although its process was ended from outside several times', async () => {
  const { queue, tries } = dying(20, false)
  await queue.push(batch(1, 1))
  expect(tries()).toBe(21)
})

it('a change under which its process ends by its own fault is given back after three times, as what may be the cause', async () => {
  const { queue, tries } = dying(100, true)
  await expect(queue.push(batch(1, 1))).rejects.toBeInstanceOf(IndexProcessDied)
  expect(tries()).toBe(3)
})

it('a change under which its process was ended from outside for a minute is given back, too', async () => {
  let time = 0
  vi.spyOn(performance, 'now').mockImplementation(() => (time += 10_000))
  const { queue, tries } = dying(100, false)
  await expect(queue.push(batch(1, 1))).rejects.toBeInstanceOf(IndexProcessDied)
  expect(tries()).toBeGreaterThan(3)
})
