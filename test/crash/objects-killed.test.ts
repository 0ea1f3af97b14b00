import { execa } from 'execa'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sweepObjects } from '../../src/engine/library/objects/sweep.js'
import { releaseOrphanedRemovals } from '../../src/engine/store/rows/objects.js'
import { type Gateway, temporaryStore } from '../engine/library/objects/stores.js'
import { OBJECTS_CHILD } from './objects-child.js'

const HOURS = 3_600_000
const CERTAIN = { openedAt: 0, keepUnknownReason: () => undefined, markClosed() {}, unmarkClosed() {} }
/** More steps than any operation needs, in case one is added. */
const STEPS = 20

let store: ReturnType<typeof temporaryStore>
beforeEach(() => {
  store = temporaryStore()
})
afterEach(() => store.end())

/** @returns whether it ended before that step */
async function runKilled(what: 'upload' | 'delete', size: number, isLoose: boolean, step: number, when: string) {
  const dist = new URL('../../dist/engine', import.meta.url).href
  const given = [dist, store.root, what, size, isLoose, step, when].map(String)
  const { stdout, signal, stderr } = await execa('node', ['--input-type=module', '-e', OBJECTS_CHILD, '--', ...given], {
    reject: false,
  })
  expect(stdout === 'done' || signal === 'SIGKILL', stderr).toBe(true)
  return stdout === 'done'
}

/** The work of a start, and of the later clean-up. */
async function recover(gateway: Gateway): Promise<void> {
  await gateway.context.db.write(() => releaseOrphanedRemovals())
  await sweepObjects({ ...gateway.context, identity: CERTAIN }, Date.now() + 2 * HOURS)
}

const CASES = [
  { size: 20, isLoose: true },
  { size: 20, isLoose: false },
  { size: 100_000, isLoose: true },
  { size: 100_000, isLoose: false },
]

test.each(CASES)(
  'a process killed at any step of an upload of $size bytes loses and orphans no object (loose file: $isLoose)',
  {
    timeout: 300_000,
  },
  async ({ size, isLoose }) => {
    let killed = 0
    for (let step = 1; step <= STEPS; step++) {
      let isOver = false
      for (const when of ['before', 'after']) {
        const bytes = Buffer.alloc(size, 'bytes that come and go')
        isOver = await runKilled('upload', size, isLoose, step, when)
        if (!isOver) killed++
        const gateway = await store.gateway()
        await recover(gateway)
        expect(await gateway.missing(), `${when} step ${step}`).toEqual([])
        // The row of an upload that never ended is purged like an expired one.
        for (const { id } of await gateway.rows()) await gateway.remove(id, bytes)
        expect(store.files(), `${when} step ${step}`).toEqual([])
        expect(await gateway.objectRows(), `${when} step ${step}`).toEqual([])
      }
      if (isOver) break
    }
    expect(killed).toBeGreaterThan(8)
  },
)

test('a process killed at any step of deleting an object leaves no file, and a new upload of the same bytes works', {
  timeout: 300_000,
}, async () => {
  const bytes = Buffer.alloc(100_000, 'bytes that come and go')
  let killed = 0
  for (let step = 1; step <= STEPS; step++) {
    let isOver = false
    for (const [when, comesAgain] of [
      ['before', false],
      ['after', false],
      ['before', true],
      ['after', true],
    ] as const) {
      await (await store.gateway()).upload(bytes, false)
      isOver = await runKilled('delete', bytes.length, false, step, when)
      if (!isOver) killed++
      const gateway = await store.gateway()
      const name = `${when} step ${step}${comesAgain ? ', uploaded again' : ''}`
      if (comesAgain) {
        await gateway.context.db.write(() => releaseOrphanedRemovals())
        const id = await gateway.upload(bytes, true)
        expect(await gateway.missing(), name).toEqual([])
        await gateway.remove(id, bytes)
      }
      await recover(gateway)
      expect(await gateway.missing(), name).toEqual([])
      for (const { id } of await gateway.rows()) await gateway.remove(id, bytes)
      expect(await gateway.objectRows(), name).toEqual([])
      expect(store.files(), name).toEqual([])
    }
    if (isOver) break
  }
  expect(killed).toBeGreaterThan(8)
})
