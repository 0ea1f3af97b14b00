import { createHash, randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import type { S3Objects, S3Options } from '../../../src/engine/store/object-s3.js'
import { ObjectStore } from '../../../src/engine/store/objects.js'
import { newId } from '../../../src/lib/ids.js'
import { type Fault, type StrictRequest, type StrictS3, startStrictS3 } from '../../helpers/places/strict-s3.js'
import { openBucket, withKeys } from './object-places.js'

const PATIENCE = {
  connectMs: 300,
  idleMs: 500,
  requestMs: 1000,
  minBytesPerSecond: 1e6,
  attempts: 3,
  backoff: { baseMs: 5, capMs: 10 },
}
const SMALL = Buffer.from('a small object')
const LARGE = randomBytes(300_000)

let folder: string
let server: StrictS3
let opened: S3Objects[]
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ks-s3-'))
  server = await startStrictS3()
  withKeys(server.env)
  opened = []
})
afterEach(async () => {
  for (const store of opened) store.close()
  await server.end()
  vi.unstubAllEnvs()
  removeFolder(folder)
})

async function open(changes: Partial<S3Options> = {}): Promise<S3Objects> {
  const store = await openBucket(folder, server.place, { timeouts: PATIENCE, ...changes })
  opened.push(store)
  return store
}

const keyOf = (bytes: Buffer) => ObjectStore.key('tenant', createHash('sha256').update(bytes).digest('hex'))
const objects = () => [...server.objects.keys()].filter((key) => key.includes('/sha256/'))

async function put(store: S3Objects, bytes: Buffer): Promise<string> {
  const staged = await store.stage(newId(), Readable.from([bytes]), 1 << 30, 'a.txt')
  try {
    await store.publish([{ staged, key: keyOf(bytes) }])
  } finally {
    await store.discard(staged.id)
  }
  return keyOf(bytes)
}

async function removed(store: S3Objects, keys: string[]) {
  const gone: string[] = []
  const inDoubt: string[] = []
  const told = { onRemoved: (key: string) => gone.push(key), onUncertain: (key: string) => inDoubt.push(key) }
  const failure: unknown = await store
    .remove(keys, () => true, told)
    .then(
      () => undefined,
      (error: unknown) => error,
    )
  return { gone, inDoubt, failure }
}

/** Makes the first requests of a method for an object fail. */
function failing(times: number, fault: Fault, of: (request: StrictRequest) => boolean = () => true) {
  let left = times
  server.fault = (request) => (request.key.includes('/sha256/') && of(request) && left-- > 0 ? fault : undefined)
}

const FAULTS: [string, Fault][] = [
  ['answers 503', { status: 503, code: 'SlowDown' }],
  ['answers 500', { status: 500, code: 'InternalError' }],
  ['reports bytes damaged in transit', { status: 400, code: 'BadDigest' }],
  ['ends the connection', 'drop'],
  ['ends the connection after the operation', 'drop-after'],
  ['does not respond', 'hang'],
]

describe('an object storage that', () => {
  it.each(FAULTS)('%s twice is retried', async (_name, fault) => {
    const store = await open()
    for (const bytes of [SMALL, LARGE]) {
      failing(2, fault)
      const key = await put(store, bytes)
      failing(2, fault)
      expect((await store.bytes(key)).equals(bytes)).toBe(true)
      // A response to HEAD has no body that could name a failure.
      if (typeof fault !== 'object' || fault.status >= 500) failing(2, fault)
      expect(await store.describe(key)).toMatchObject({ size: bytes.length })
    }
    expect(store.requests()).toContainEqual({ operation: 'get', outcome: 'retried', count: expect.any(Number) })
  })

  // Without a bound, each call would take hours.
  it.each(FAULTS)(
    '%s permanently is reported as unavailable, in bounded time',
    { timeout: 60_000 },
    async (_name, fault) => {
      const store = await open()
      const key = await put(store, SMALL)
      failing(1000, fault)
      const away = { code: 'unavailable', retryAfter: 5, message: expect.stringContaining('does not answer') }
      await expect(put(store, LARGE)).rejects.toMatchObject(away)
      await expect(store.bytes(key)).rejects.toMatchObject(away)
      await expect(store.measureAll([key])).rejects.toMatchObject(away)
      await expect(store.local([key], async () => 'used')).rejects.toMatchObject(away)
      server.fault = () => undefined
      expect((await store.bytes(key)).equals(SMALL)).toBe(true)
      expect(await store.listStaged()).toEqual([])
    },
  )

  it.each<Fault>(['truncate', 'corrupt', 'drip'])(
    'sends bytes badly (%s) is retried, and wrong bytes are never accepted',
    async (fault) => {
      const store = await open()
      const key = await put(store, LARGE)
      failing(1, fault)
      expect((await store.bytes(key)).equals(LARGE)).toBe(true)
      failing(1, fault)
      await store.local([key], async ([file]) => expect(readFileSync(file?.path ?? '').equals(LARGE)).toBe(true))
      failing(1000, fault)
      const code = fault === 'corrupt' ? 'data-damaged' : 'unavailable'
      await expect(store.bytes(key)).rejects.toMatchObject({ code })
      expect(readdirSync(join(folder, 'cache'))).toEqual([])
    },
  )

  it('denies access is not retried, and the error contains no secret', async () => {
    const store = await open()
    let asked = 0
    server.fault = ({ key }) => {
      if (key.includes('/sha256/')) asked++
      return { status: 403, code: 'AccessDenied' }
    }
    const error = await put(store, SMALL).catch((refused: unknown) => refused)
    expect(error).toMatchObject({ code: 'unavailable', message: expect.stringContaining('AccessDenied (403)') })
    expect(asked).toBe(1)
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain(server.secretAccessKey)
  })

  it('supports conditional requests does not receive an existing object again', async () => {
    const store = await open()
    await put(store, LARGE)
    const before = server.requests.length
    await put(store, LARGE)
    expect(server.requests.slice(before).map((one) => one.replace(/ .*\//, ' '))).toEqual([
      `PUT ${keyOf(LARGE).slice(-64)} PreconditionFailed`,
      `GET ${keyOf(LARGE).slice(-64)} 200`,
    ])
  })
})

describe('a multipart upload', () => {
  const HUGE = Buffer.alloc(65 * 1024 ** 2, 'bytes that go in parts ')

  it('checks each part and retries it separately', async () => {
    const store = await open()
    let left = 2
    server.fault = ({ query }) => (query.get('partNumber') === '2' && left-- > 0 ? 'drop' : undefined)
    const key = await put(store, HUGE)
    expect(server.objects.get(server.place.prefix + key)?.bytes.equals(HUGE)).toBe(true)
    expect(server.requests.filter((one) => one.startsWith('PUT') && one.includes('/sha256/'))).toHaveLength(5)
    expect([server.uploads.size, await store.listStaged()]).toEqual([0, []])
  })

  it('gets aborted when a part cannot be sent', async () => {
    const store = await open()
    server.fault = ({ query }) => (query.get('partNumber') === '3' ? { status: 503 } : undefined)
    await expect(put(store, HUGE)).rejects.toMatchObject({ code: 'unavailable' })
    expect([server.uploads.size, objects()]).toEqual([0, []])
  })

  it('left by a dead process is aborted after a day', async () => {
    server.uploads.set('old', { key: 'ks/x', parts: new Map(), at: new Date(Date.now() - 25 * 3_600_000) })
    server.uploads.set('young', { key: 'ks/y', parts: new Map(), at: new Date() })
    await open()
    await expect.poll(() => [...server.uploads.keys()]).toEqual(['young'])
  })
})

describe('a removal of an object from S3', () => {
  it.each<Fault>(['hang', 'drop', 'drop-after', { status: 503 }])(
    'whose result is unknown (%s) is reported as uncertain',
    async (fault) => {
      const store = await open()
      const key = await put(store, SMALL)
      failing(1000, fault, ({ method }) => method === 'DELETE')
      expect(await removed(store, [key])).toMatchObject({ gone: [], inDoubt: [key], failure: { code: 'unavailable' } })
      server.fault = () => undefined
      expect(await removed(store, [key])).toEqual({ gone: [key], inDoubt: [], failure: undefined })
      expect(objects()).toEqual([])
    },
  )

  it('deletes the cached file of the object', async () => {
    const store = await open({ cacheBytes: 1e9 })
    const key = await put(store, LARGE)
    expect(readdirSync(join(folder, 'cache'))).toHaveLength(1)
    await removed(store, [key])
    await expect.poll(() => readdirSync(join(folder, 'cache'))).toEqual([])
    await expect(store.bytes(key)).rejects.toMatchObject({ code: 'ENOENT' })
  })
})

describe('cached files of S3 objects', () => {
  it('stay within the limit except while they are in use, and get downloaded once', async () => {
    const store = await open({ cacheBytes: 700_000 })
    const all = Array.from({ length: 5 }, () => randomBytes(300_000))
    const keys = await Promise.all(all.map((bytes) => put(store, bytes)))
    const held = () =>
      readdirSync(join(folder, 'cache')).reduce((sum, name) => sum + statSync(join(folder, 'cache', name)).size, 0)
    await expect.poll(held).toBeLessThanOrEqual(700_000)
    await store.local(keys, async (files) => {
      expect(files.map(({ path }, place) => readFileSync(path).equals(all[place] ?? SMALL))).toEqual(
        all.map(() => true),
      )
      expect(files.every(({ path, root }) => path.startsWith(root))).toBe(true)
    })
    await expect.poll(held).toBeLessThanOrEqual(700_000)
    const before = server.requests.length
    const last = keys.at(-1) ?? ''
    await Promise.all([1, 2, 3].map(() => store.local([last, last], async () => undefined)))
    expect(server.requests.slice(before)).toEqual([])
  })

  it('left by an earlier process get removed when the store opens', async () => {
    const store = await open({ cacheBytes: 1e9 })
    await put(store, SMALL)
    expect(readdirSync(join(folder, 'cache'))).toHaveLength(1)
    await open({ cacheBytes: 1e9 })
    expect(readdirSync(join(folder, 'cache'))).toEqual([])
  })
})

describe('the S3 location of a store', () => {
  const storeOf = (id: string, opened = 1, hasObjects = false) => ({ store: { id, opened, hasObjects } })

  it('fails to open when it belongs to another store, lacks referenced objects, or denies access', async () => {
    await open(storeOf('mine'))
    await expect(open(storeOf('yours'))).rejects.toMatchObject({ name: 'StoreRefused', message: /of store mine/ })
    const empty = { location: { ...server.place, prefix: 'empty/' } }
    await expect(open({ ...empty, ...storeOf('mine', 2, true) })).rejects.toThrow(/contains none/)
    await expect(open({ location: { ...server.place, bucket: 'nowhere' } })).rejects.toThrow(/NoSuchBucket/)
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'wrong/secret')
    const error = await open(storeOf('mine')).catch((refused: unknown) => refused)
    expect(error).toMatchObject({ name: 'StoreRefused', message: /SignatureDoesNotMatch/ })
    expect(String(error)).not.toContain('wrong/secret')
  })

  it('opens later when it is unavailable; until then no unreferenced object may be removed', async () => {
    server.fault = () => ({ status: 503 })
    const store = await open()
    expect(store.keepUnknownReason()).toContain('has not been checked yet')
    await expect(put(store, SMALL)).rejects.toMatchObject({ code: 'unavailable' })
    server.fault = () => undefined
    await put(store, SMALL)
    expect(store.keepUnknownReason()).toBeUndefined()
  })

  it('reveals a database that is older than its objects', async () => {
    await open(storeOf('mine', 7))
    const told: string[] = []
    const store = await open({ ...storeOf('mine', 3), onKeepUnknown: (why) => told.push(why) })
    expect(told).toEqual([expect.stringContaining('opened 3 times, they were opened 7 times')])
    expect(store.keepUnknownReason()).toBe(told[0])
  })

  it('contains no object of the probe for conditional requests', async () => {
    for (const conditions of [true, false]) {
      server.conditions = conditions
      await open()
      expect([...server.objects.keys()]).toEqual(['ks/store.json'])
    }
    // Servers without support may report that.
    server.fault = ({ headers }) =>
      headers['if-none-match'] === '*' ? { status: 501, code: 'NotImplemented' } : undefined
    const store = await open()
    expect((await store.bytes(await put(store, SMALL))).equals(SMALL)).toBe(true)
    expect(existsSync(join(folder, 'tmp'))).toBe(true)
  })
})
