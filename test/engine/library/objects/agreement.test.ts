import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { sweepObjects } from '../../../../src/engine/library/objects/sweep.js'
import type { Database } from '../../../../src/engine/store/database.js'
import { insertFile } from '../../../../src/engine/store/rows/chat/files.js'
import { releaseOrphanedRemovals } from '../../../../src/engine/store/rows/objects.js'
import { newId } from '../../../../src/lib/ids.js'
import { Gateway, rowOf, temporaryStore } from './stores.js'

const SMALL = Buffer.from('bytes that come and go')
const LARGE = Buffer.alloc(100_000, 'bytes that come and go')
const HOURS = 3_600_000
const CERTAIN = { openedAt: 0, keepUnknownReason: () => undefined, markClosed() {}, unmarkClosed() {} }

let store: ReturnType<typeof temporaryStore>
beforeEach(() => {
  store = temporaryStore()
})
afterEach(() => store.end())

test('an upload waits for a removal of the same bytes, and takes over a removal that a dead process left', async () => {
  const gateway = await store.gateway()
  await leaveRemoval(gateway)
  let isOver = false
  const upload = gateway.upload(SMALL, true).then(() => {
    isOver = true
  })
  await sleep(300)
  // The removing process may still live.
  expect(isOver).toBe(false)
  await gateway.context.db.write(() => releaseOrphanedRemovals())
  await upload
  expect(await gateway.missing()).toEqual([])
  expect(await gateway.objectRows()).toMatchObject([{ state: 'live', loose_since: null }])
})

test('the clean-up completes a removal that a dead process left, or cancels it if a row needs the object', async () => {
  const gateway = await store.gateway()
  const { db } = gateway.context
  const sweep = (now = Date.now()) => sweepObjects({ ...gateway.context, identity: CERTAIN }, now)
  await leaveRemoval(gateway)
  // The removing process may still live.
  expect(await sweep()).toMatchObject({ removed: 0 })
  expect(store.files()).toHaveLength(1)
  await db.write(() => releaseOrphanedRemovals())
  expect(await sweep()).toMatchObject({ removed: 1 })
  expect(await gateway.objectRows()).toEqual([])
  expect(store.files()).toEqual([])

  await leaveRemoval(gateway)
  await db.write(function* () {
    yield* releaseOrphanedRemovals()
    yield* insertFile(rowOf(newId(), SMALL), 1)
  })
  expect(await sweep()).toMatchObject({ removed: 0 })
  expect(await gateway.objectRows()).toMatchObject([{ state: 'live', loose_since: null }])
  expect(store.files()).toHaveLength(1)
})

test('bytes of an upload that were received but never referenced are removed after an hour', async () => {
  const gateway = await store.gateway()
  const sweep = (now: number) => sweepObjects({ ...gateway.context, identity: CERTAIN }, now)
  const died = { ...gateway.context, db: dyingAt(gateway, 2) }
  await expect(new Gateway(died).upload(LARGE, true)).rejects.toThrow('killed')
  expect(store.files()).toHaveLength(1)
  await sweep(Date.now())
  expect(store.files()).toHaveLength(1)
  await sweep(Date.now() + 2 * HOURS)
  expect(store.files()).toEqual([])
  expect(await gateway.objectRows()).toEqual([])
})

test('an object that is deleted during a backup is removed by a clean-up after the backup', async () => {
  const gateway = await store.gateway()
  const id = await gateway.upload(SMALL, false)
  const pin = join(store.root, 'objects', 'being-copied')
  writeFileSync(pin, '')
  expect(await gateway.remove(id, SMALL)).toEqual(new Set())
  expect(existsSync(store.pathOf(SMALL))).toBe(true)
  rmSync(pin)
  await sweepObjects({ ...gateway.context, identity: CERTAIN }, Date.now() + 2 * HOURS)
  expect(store.files()).toEqual([])
  expect(await gateway.objectRows()).toEqual([])
})

test('a removal of an object that another gateway took over removes nothing when it resumes', async () => {
  const [slow, other] = [await store.gateway(), await store.gateway()]
  const id = await slow.upload(SMALL, false)
  const { objects } = slow.context
  const remove = objects.remove.bind(objects)
  let waking = () => {}
  const asleep = new Promise<void>((resolve) => {
    waking = resolve
  })
  vi.spyOn(objects, 'remove').mockImplementation(async (...given) => {
    await asleep
    return remove(...given)
  })
  const removal = slow.remove(id, SMALL)
  await expect.poll(() => other.objectRows()).toMatchObject([{ state: 'deleting' }])
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: Date.now() + 16_000 })
  try {
    await other.upload(SMALL, true)
    waking()
    expect(await removal).toEqual(new Set())
  } finally {
    vi.useRealTimers()
  }
  expect(await other.missing()).toEqual([])
})

test('the damaged bytes of an object are replaced by the next upload of the same bytes', async () => {
  const gateway = await store.gateway()
  const path = store.pathOf(LARGE)
  await gateway.upload(LARGE, false)
  rmSync(path)
  writeFileSync(path, Buffer.alloc(LARGE.length, 'other'))
  expect(await gateway.missing()).toHaveLength(1)
  await gateway.upload(LARGE, true)
  expect(await gateway.missing()).toEqual([])
})

/** Leaves an object whose removal started and did not end. */
async function leaveRemoval(gateway: Gateway): Promise<void> {
  const id = await gateway.upload(SMALL, true)
  const died = { ...gateway.context, objects: Object.create(gateway.context.objects) }
  died.objects.isPinned = () => false
  died.objects.remove = () => new Promise(() => undefined)
  void new Gateway(died).remove(id, SMALL)
  await expect.poll(() => gateway.objectRows()).toMatchObject([{ state: 'deleting' }])
}

/** A database that fails from a given write on. */
function dyingAt({ context }: Gateway, write: number): Database {
  const db: Database = Object.create(context.db)
  let writes = 0
  db.read = (program) => context.db.read(program)
  db.write = (work) => (++writes >= write ? Promise.reject(new Error('killed')) : context.db.write(work))
  return db
}
