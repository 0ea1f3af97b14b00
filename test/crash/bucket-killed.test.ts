import { execa } from 'execa'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { sweepObjects } from '../../src/engine/library/objects/sweep.js'
import { releaseOrphanedRemovals } from '../../src/engine/store/rows/objects.js'
import { type Gateway, temporaryStore } from '../engine/library/objects/stores.js'
import { withKeys } from '../engine/store/object-places.js'
import { type StrictS3, startStrictS3 } from '../helpers/places/strict-s3.js'
import { OBJECTS_CHILD } from './objects-child.js'

const HOURS = 3_600_000
const CERTAIN = { openedAt: 0, keepUnknownReason: () => undefined, markClosed() {}, unmarkClosed() {} }
/** More steps and requests than any operation needs. */
const STEPS = 20

let server: StrictS3
let store: ReturnType<typeof temporaryStore>
beforeEach(async () => {
  server = await startStrictS3()
  withKeys(server.env)
  store = temporaryStore(server)
})
afterEach(async () => {
  await store.end()
  await server.end()
  vi.unstubAllEnvs()
})

/** Starts a process that uploads or deletes, to be killed by itself or from outside. */
function start(what: 'upload' | 'delete', size: number, step: number, when: string) {
  const dist = new URL('../../dist/engine', import.meta.url).href
  const given = [dist, store.root, what, size, true, step, when].map(String)
  return execa('node', ['--input-type=module', '-e', OBJECTS_CHILD, '--', ...given], {
    env: { ...server.env, PLACE: JSON.stringify(server.place) },
    reject: false,
  })
}

/** @returns whether it ended before that step */
async function killedAtStep(what: 'upload' | 'delete', size: number, step: number, when: string): Promise<boolean> {
  const { stdout, signal, stderr } = await start(what, size, step, when)
  expect(stdout === 'done' || signal === 'SIGKILL', stderr).toBe(true)
  return stdout === 'done'
}

/**
 * Kills it when the server gets its nth request for an object, before or after the request takes effect. @returns as
 * above
 */
async function killedAtRequest(what: 'upload' | 'delete', size: number, nth: number, when: string): Promise<boolean> {
  let requests = 0
  const child = start(what, size, 0, 'never')
  server.fault = ({ key }) => {
    if (!key.includes('/sha256/') || ++requests !== nth) return undefined
    child.kill('SIGKILL')
    return when === 'before' ? 'drop' : 'drop-after'
  }
  const { stdout, signal, stderr } = await child
  server.fault = () => undefined
  expect(stdout === 'done' || signal === 'SIGKILL', stderr).toBe(true)
  return stdout === 'done'
}

/** The work of a start, and of the later clean-up. */
async function recover(gateway: Gateway): Promise<void> {
  await gateway.context.db.write(() => releaseOrphanedRemovals())
  await sweepObjects({ ...gateway.context, identity: CERTAIN }, Date.now() + 2 * HOURS)
}

const KILLS = [
  ['a database or file step', killedAtStep],
  ['a request to the bucket', killedAtRequest],
] as const

test.each(KILLS)(
  'an upload to a bucket, whose process is killed at %s, loses no object and leaves no orphaned object',
  { timeout: 300_000 },
  async (_name, killed) => {
    let kills = 0
    for (const size of [20, 100_000])
      for (let step = 1; step <= STEPS; step++) {
        let isOver = false
        for (const when of ['before', 'after']) {
          isOver = await killed('upload', size, step, when)
          if (!isOver) kills++
          const gateway = await store.gateway()
          await recover(gateway)
          expect(await gateway.missing(), `${when} ${step}`).toEqual([])
          for (const { id } of await gateway.rows())
            await gateway.remove(id, Buffer.alloc(size, 'bytes that come and go'))
          expect(store.files(), `${when} ${step}`).toEqual([])
          expect(await gateway.objectRows(), `${when} ${step}`).toEqual([])
        }
        if (isOver) break
      }
    expect(kills).toBeGreaterThan(3)
  },
)

test.each(KILLS)(
  'a deletion in a bucket, whose process is killed at %s, does not affect a new upload of the same bytes',
  { timeout: 300_000 },
  async (_name, killed) => {
    const bytes = Buffer.alloc(100_000, 'bytes that come and go')
    let kills = 0
    for (let step = 1; step <= STEPS; step++) {
      let isOver = false
      for (const when of ['before', 'after']) {
        const gateway = await store.gateway()
        await gateway.upload(bytes, true)
        isOver = await killed('delete', bytes.length, step, when)
        if (!isOver) kills++
        await gateway.context.db.write(() => releaseOrphanedRemovals())
        const id = await gateway.upload(bytes, true)
        expect(await gateway.missing(), `${when} ${step}`).toEqual([])
        await gateway.remove(id, bytes)
        for (const row of await gateway.rows()) await gateway.remove(row.id, bytes)
        await recover(gateway)
        expect(store.files(), `${when} ${step}`).toEqual([])
        expect(await gateway.objectRows(), `${when} ${step}`).toEqual([])
      }
      if (isOver) break
    }
    expect(kills).toBeGreaterThan(1)
  },
)
