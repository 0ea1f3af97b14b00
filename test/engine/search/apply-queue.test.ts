import { expect, it } from 'vitest'
import { ApplyQueue } from '../../../src/engine/search/apply-queue.js'
import type { IndexBatch } from '../../../src/engine/search/ports.js'

const batch = (seq: number, nodes: number): IndexBatch => ({
  ...{ seq, remove: [] },
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
