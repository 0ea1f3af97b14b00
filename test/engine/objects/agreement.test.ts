import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { sweepObjects } from '../../../src/engine/objects/sweep.js'
import { insertFile } from '../../../src/engine/rows/chat/files.js'
import { freeRemovals } from '../../../src/engine/rows/objects.js'
import type { Database } from '../../../src/engine/storage/database.js'
import { newId } from '../../../src/lib/ids.js'
import { Gateway, keyOf, rowOf, temporaryStore } from './stores.js'

const SMALL = Buffer.from('bytes that come and go')
const LARGE = Buffer.alloc(100_000, 'bytes that come and go')
const HOURS = 3_600_000
const CERTAIN = { openedAt: 0, doubt: () => undefined, closed() {} }

let store: ReturnType<typeof temporaryStore>
beforeEach(() => {
  store = temporaryStore()
})
afterEach(() => store.end())

/** The steps of a gateway, each in its turn of a schedule. */
function inTurns(gateway: Gateway, scheduler: fc.Scheduler): Gateway {
  const turned = <T extends object>(target: T, steps: readonly string[]): T =>
    new Proxy(target, {
      get(of, name) {
        const value: unknown = Reflect.get(of, name, of)
        if (typeof value !== 'function') return value
        if (!steps.includes(String(name))) return value.bind(of)
        return async (...given: unknown[]) => {
          await scheduler.schedule(Promise.resolve(), String(name))
          const result: unknown = await value.apply(of, given)
          await scheduler.schedule(Promise.resolve(), `${String(name)} done`)
          return result
        }
      },
    })
  const { db, objects } = gateway.context
  return new Gateway({
    ...gateway.context,
    db: turned(db, ['write']),
    objects: turned(objects, ['syncStaged', 'publish', 'remove']),
  })
}

test('whatever the order of the steps of two gateways, a named object is there whole and an unnamed one is gone', {
  timeout: 300_000,
}, async () => {
  const gateways = [await store.gateway(), await store.gateway()] as const
  const action = fc.record({
    gateway: fc.nat(1),
    bytes: fc.constantFrom(SMALL, LARGE),
    isLoose: fc.boolean(),
    stays: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.array(action, { minLength: 2, maxLength: 5 }), async (scheduler, actions) => {
      const turns = gateways.map((gateway) => inTurns(gateway, scheduler))
      const missing: string[] = []
      const work = actions.map(async ({ gateway, bytes, isLoose, stays }) => {
        const one = turns[gateway] as Gateway
        const id = await one.upload(bytes, isLoose)
        missing.push(...(await gateways[0].missing()))
        if (!stays) await one.remove(id, bytes)
        missing.push(...(await gateways[0].missing()))
      })
      await scheduler.waitFor(Promise.all(work))
      expect(missing).toEqual([])
      expect(await gateways[0].missing()).toEqual([])
      const named = new Set((await gateways[0].rows()).map((row) => row.object_key.slice(-64)))
      expect(new Set(store.files())).toEqual(named)
      expect(new Set((await gateways[0].objectRows()).map((row) => `${row.state} ${row.sha256}`))).toEqual(
        new Set([...named].map((sha256) => `live ${sha256}`)),
      )
      for (const row of await gateways[0].rows())
        await gateways[0].remove(row.id, row.object_key === keyOf(SMALL) ? SMALL : LARGE)
      expect(store.files()).toEqual([])
    }),
    { numRuns: 60 },
  )
})

test('two gateways that upload and delete the same bytes as fast as they can lose nothing', {
  timeout: 120_000,
}, async () => {
  const watcher = await store.gateway()
  const until = performance.now() + 4000
  let uploads = 0
  const workers = [await store.gateway(), await store.gateway()].flatMap((gateway) =>
    [0, 1].map(async (worker) => {
      for (; performance.now() < until; uploads++) {
        const bytes = Math.random() < 0.5 ? SMALL : LARGE
        const id = await gateway.upload(bytes, worker === 0)
        if (Math.random() < 0.3) await sleep(Math.random() * 3)
        expect((await gateway.context.objects.measure(keyOf(bytes)))?.size).toBe(bytes.length)
        await gateway.remove(id, bytes)
      }
    }),
  )
  let looks = 0
  const missing: string[] = []
  const watching = (async () => {
    for (; performance.now() < until; looks++) {
      missing.push(...(await watcher.missing()))
      await sleep(1)
    }
  })()
  await Promise.all([...workers, watching])
  expect(missing).toEqual([])
  expect(uploads).toBeGreaterThan(20)
  expect(looks).toBeGreaterThan(20)
  expect(await watcher.objectRows()).toEqual([])
  expect(store.files()).toEqual([])
})

test('an upload waits for a removal of its bytes, and takes over what a dead process was removing', async () => {
  const gateway = await store.gateway()
  await leaveRemoval(gateway)
  let isOver = false
  const upload = gateway.upload(SMALL, true).then(() => {
    isOver = true
  })
  await sleep(300)
  // its remover may live
  expect(isOver).toBe(false)
  await gateway.context.db.write(() => freeRemovals())
  await upload
  expect(await gateway.missing()).toEqual([])
  expect(await gateway.objectRows()).toMatchObject([{ state: 'live', loose_since: null }])
})

test('the clean-up finishes what a dead process was removing, or lets it live where a row names it', async () => {
  const gateway = await store.gateway()
  const { db } = gateway.context
  const sweep = (now = Date.now()) => sweepObjects({ ...gateway.context, identity: CERTAIN }, now)
  await leaveRemoval(gateway)
  // its remover may live
  expect(await sweep()).toMatchObject({ removed: 0 })
  expect(store.files()).toHaveLength(1)
  await db.write(() => freeRemovals())
  expect(await sweep()).toMatchObject({ removed: 1 })
  expect(await gateway.objectRows()).toEqual([])
  expect(store.files()).toEqual([])

  await leaveRemoval(gateway)
  await db.write(function* () {
    yield* freeRemovals()
    yield* insertFile(rowOf(newId(), SMALL), 1)
  })
  expect(await sweep()).toMatchObject({ removed: 0 })
  expect(await gateway.objectRows()).toMatchObject([{ state: 'live', loose_since: null }])
  expect(store.files()).toHaveLength(1)
})

test('bytes that were received and never named go after an hour', async () => {
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

test('nothing is removed while a backup is taken; the clean-up removes it afterwards', async () => {
  const gateway = await store.gateway()
  const id = await gateway.upload(SMALL, false)
  const pin = join(store.root, 'objects', 'being-copied')
  writeFileSync(pin, '')
  expect(await gateway.remove(id, SMALL)).toEqual(new Set())
  expect(existsSync(gateway.context.objects.path(keyOf(SMALL)))).toBe(true)
  rmSync(pin)
  await sweepObjects({ ...gateway.context, identity: CERTAIN }, Date.now() + 2 * HOURS)
  expect(store.files()).toEqual([])
  expect(await gateway.objectRows()).toEqual([])
})

test('a removal that was taken over removes nothing when it wakes up', async () => {
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
  await vi.waitFor(async () => expect(await other.objectRows()).toMatchObject([{ state: 'deleting' }]))
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

test('bytes that are damaged are put anew by the next upload of them', async () => {
  const gateway = await store.gateway()
  const path = gateway.context.objects.path(keyOf(LARGE))
  await gateway.upload(LARGE, false)
  rmSync(path)
  writeFileSync(path, Buffer.alloc(LARGE.length, 'other'))
  expect(await gateway.missing()).toHaveLength(1)
  await gateway.upload(LARGE, true)
  expect(await gateway.missing()).toEqual([])
})

/** Leaves an object behind whose removal began and did not end. */
async function leaveRemoval(gateway: Gateway): Promise<void> {
  const id = await gateway.upload(SMALL, true)
  const died = { ...gateway.context, objects: Object.create(gateway.context.objects) }
  died.objects.isPinned = () => false
  died.objects.remove = () => new Promise(() => undefined)
  void new Gateway(died).remove(id, SMALL)
  await vi.waitFor(async () => expect(await gateway.objectRows()).toMatchObject([{ state: 'deleting' }]))
}

/** A database that is gone from a write on. */
function dyingAt({ context }: Gateway, write: number): Database {
  const db: Database = Object.create(context.db)
  let writes = 0
  db.read = (program) => context.db.read(program)
  db.write = (work) => (++writes >= write ? Promise.reject(new Error('killed')) : context.db.write(work))
  return db
}
