import { afterEach, expect, it, vi } from 'vitest'
import { FollowQueue, type Wanted } from '../../../src/engine/search/follow-queue.js'
import { ProcessGoneError } from '../../../src/engine/search/index-process.js'
import { IndexProcessDied } from '../../../src/engine/search/ports.js'

const wanted = (seq: number, nodes: number): Wanted => {
  const add = Array.from({ length: nodes }, (_, n) => ({ key: seq * 1_000 + n, doc: seq, title: '', body: '' }))
  return { seq, fresh: { first: seq, seq, add, remove: [] } }
}

it('changes that wait together are committed in order, in groups that others do not wait long for', async () => {
  const commits: Wanted[][] = []
  const queue = new FollowQueue(async (group) => {
    commits.push(group)
  })
  await Promise.all(Array.from({ length: 40 }, (_, n) => queue.push(wanted(n + 1, 120))))
  expect(commits.flat().map(({ seq }) => seq)).toEqual(Array.from({ length: 40 }, (_, n) => n + 1))
  for (const group of commits)
    expect(group.reduce((sum, { fresh }) => sum + (fresh?.add.length ?? 0), 0)).toBeLessThanOrEqual(2_000)
  expect(commits.length).toBeLessThan(40)
})

it('small changes of one moment share a commit', async () => {
  let commits = 0
  const queue = new FollowQueue(async () => {
    commits++
  })
  await Promise.all(Array.from({ length: 100 }, (_, n) => queue.push(wanted(n + 1, 1))))
  expect(commits).toBe(1)
})

it('what comes while a commit runs joins the next one', async () => {
  const commits: number[][] = []
  let end = () => {}
  const queue = new FollowQueue(async (group) => {
    commits.push(group.map(({ seq }) => seq))
    if (commits.length === 1) await new Promise<void>((resolve) => (end = resolve))
  })
  const first = queue.push(wanted(1, 1))
  await expect.poll(() => commits.length).toBe(1)
  const later = [2, 3, 4].map((seq) => queue.push(wanted(seq, 200)))
  end()
  await Promise.all([first, ...later])
  expect(commits).toEqual([[1], [2, 3, 4]])
})

afterEach(() => void vi.restoreAllMocks())

/** A queue whose process ends under its first commits. */
function dying(ends: number, byFault: boolean): { queue: FollowQueue; tries: () => number } {
  let tries = 0
  const queue = new FollowQueue(async () => {
    if (++tries <= ends) throw new ProcessGoneError(byFault)
  })
  return { queue, tries: () => tries }
}

it('a change is taken although its process was ended from outside several times', async () => {
  const { queue, tries } = dying(20, false)
  await queue.push(wanted(1, 1))
  expect(tries()).toBe(21)
})

it('a change under which its process ends by its own fault is given back after three times, as what may be the cause', async () => {
  const { queue, tries } = dying(100, true)
  await expect(queue.push(wanted(1, 1))).rejects.toBeInstanceOf(IndexProcessDied)
  expect(tries()).toBe(3)
})

it('a change under which its process was ended from outside for a minute is given back, too', async () => {
  let time = 0
  vi.spyOn(performance, 'now').mockImplementation(() => (time += 10_000))
  const { queue, tries } = dying(100, false)
  await expect(queue.push(wanted(1, 1))).rejects.toBeInstanceOf(IndexProcessDied)
  expect(tries()).toBeGreaterThan(3)
})
