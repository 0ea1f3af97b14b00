import { afterEach, expect, it, vi } from 'vitest'
import { FollowQueue, type FollowRequest } from '../../../src/engine/search/follow-queue.js'
import { IndexProcessGoneError } from '../../../src/engine/search/index-process.js'
import { IndexProcessFailedError } from '../../../src/engine/search/ports.js'

const pendingChange = (seq: number, nodes: number): FollowRequest => {
  const add = Array.from({ length: nodes }, (_, n) => ({ key: seq * 1_000 + n, doc: seq, title: '', body: '' }))
  return { seq, fresh: { first: seq, seq, add, remove: [] } }
}

it('the follow queue commits waiting changes in order, in groups of at most 2,000 nodes', async () => {
  const commits: FollowRequest[][] = []
  const queue = new FollowQueue(async (group) => {
    commits.push(group)
  })
  await Promise.all(Array.from({ length: 40 }, (_, n) => queue.push(pendingChange(n + 1, 120))))
  expect(commits.flat().map(({ seq }) => seq)).toEqual(Array.from({ length: 40 }, (_, n) => n + 1))
  for (const group of commits)
    expect(group.reduce((sum, { fresh }) => sum + (fresh?.add.length ?? 0), 0)).toBeLessThanOrEqual(2_000)
  expect(commits.length).toBeLessThan(40)
})

it('the follow queue commits small simultaneous changes together', async () => {
  let commits = 0
  const queue = new FollowQueue(async () => {
    commits++
  })
  await Promise.all(Array.from({ length: 100 }, (_, n) => queue.push(pendingChange(n + 1, 1))))
  expect(commits).toBe(1)
})

it('the follow queue adds changes that arrive during a commit to the next one', async () => {
  const commits: number[][] = []
  let end = () => {}
  const queue = new FollowQueue(async (group) => {
    commits.push(group.map(({ seq }) => seq))
    if (commits.length === 1) await new Promise<void>((resolve) => (end = resolve))
  })
  const first = queue.push(pendingChange(1, 1))
  await expect.poll(() => commits.length).toBe(1)
  const later = [2, 3, 4].map((seq) => queue.push(pendingChange(seq, 200)))
  end()
  await Promise.all([first, ...later])
  expect(commits).toEqual([[1], [2, 3, 4]])
})

afterEach(() => void vi.restoreAllMocks())

/** A queue whose process dies during its first commits. */
function dying(ends: number, byFault: boolean): { queue: FollowQueue; tries: () => number } {
  let tries = 0
  const queue = new FollowQueue(async () => {
    if (++tries <= ends) throw new IndexProcessGoneError({ isCrash: byFault })
  })
  return { queue, tries: () => tries }
}

it('the follow queue applies a change although the index process was killed from outside several times', async () => {
  const { queue, tries } = dying(20, false)
  await queue.push(pendingChange(1, 1))
  expect(tries()).toBe(21)
})

it('the follow queue rejects a change after the index process crashed three times on it', async () => {
  const { queue, tries } = dying(100, true)
  await expect(queue.push(pendingChange(1, 1))).rejects.toBeInstanceOf(IndexProcessFailedError)
  expect(tries()).toBe(3)
})

it('the follow queue rejects a change if the index process is killed from outside for a minute', async () => {
  let time = 0
  vi.spyOn(performance, 'now').mockImplementation(() => (time += 10_000))
  const { queue, tries } = dying(100, false)
  await expect(queue.push(pendingChange(1, 1))).rejects.toBeInstanceOf(IndexProcessFailedError)
  expect(tries()).toBeGreaterThan(3)
})
