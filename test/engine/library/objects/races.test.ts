import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { releaseOrphanedRemovals } from '../../../../src/engine/store/rows/objects.js'
import { type StrictS3, startStrictS3 } from '../../../helpers/places/strict-s3.js'
import { withKeys } from '../../store/object-places.js'
import { Gateway, keyOf, temporaryStore } from './stores.js'

const SMALL = Buffer.from('bytes that come and go')
const LARGE = Buffer.alloc(100_000, 'bytes that come and go')

let store: ReturnType<typeof temporaryStore>
let server: StrictS3 | undefined

/** The steps of a gateway, each scheduled separately. */
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

describe.each([
  ['a folder', false],
  ['a server of S3', true],
])('two gateways with objects in %s', (_name, isServer) => {
  beforeEach(async () => {
    server = isServer ? await startStrictS3() : undefined
    if (server !== undefined) withKeys(server.env)
    store = temporaryStore(server)
  })
  afterEach(async () => {
    await store.end()
    await server?.end()
    vi.unstubAllEnvs()
  })

  test('keep every referenced object and remove every unreferenced one, in any order of their steps', {
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
      { numRuns: isServer ? 30 : 60 },
    )
  })

  test('lose nothing when they upload and delete the same bytes as fast as they can', {
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
})

describe('a failing S3 server', () => {
  beforeEach(async () => {
    server = await startStrictS3()
    withKeys(server.env)
    store = temporaryStore(server)
  })
  afterEach(async () => {
    await store.end()
    await server?.end()
    vi.unstubAllEnvs()
  })

  test('keeps every acknowledged upload complete, whatever happens to concurrent uploads', {
    timeout: 120_000,
  }, async () => {
    const gateways = [await store.gateway(), await store.gateway()] as const
    if (server === undefined) throw new Error('no server')
    server.fault = () => {
      const drawn = Math.random()
      if (drawn < 0.1) return { status: 503 }
      if (drawn < 0.2) return 'drop'
      return drawn < 0.25 ? 'drop-after' : undefined
    }
    const until = performance.now() + 4000
    let acknowledged = 0
    const workers = gateways.flatMap((gateway) =>
      [0, 1].map(async (worker) => {
        while (performance.now() < until) {
          const bytes = Buffer.from(`bytes ${Math.floor(Math.random() * 30)}`)
          const id = await gateway.upload(bytes, worker === 0).catch(() => undefined)
          if (id === undefined) continue
          acknowledged++
          if (Math.random() < 0.6) await gateway.remove(id, bytes).catch(() => undefined)
        }
      }),
    )
    await Promise.all(workers)
    server.fault = () => undefined
    expect(acknowledged).toBeGreaterThan(20)
    expect(await gateways[0].missing()).toEqual([])
  })

  test('delays an upload of bytes with an uncertain removal until the removal is settled', async () => {
    if (server === undefined) throw new Error('no server')
    const gateway = await store.gateway()
    const id = await gateway.upload(SMALL, true)
    server.fault = ({ method }) => (method === 'DELETE' ? 'hang' : undefined)
    await expect(gateway.remove(id, SMALL)).rejects.toMatchObject({ code: 'unavailable' })
    expect(await gateway.objectRows()).toMatchObject([{ state: 'deleting' }])
    server.fault = () => undefined
    let isOver = false
    const upload = gateway.upload(SMALL, true).then(() => {
      isOver = true
    })
    // The upload must not continue meanwhile.
    await sleep(300)
    expect(isOver).toBe(false)
    await gateway.context.db.write(() => releaseOrphanedRemovals())
    await upload
    expect(await gateway.missing()).toEqual([])
    expect(await gateway.objectRows()).toMatchObject([{ state: 'live', loose_since: null }])
  })
})
