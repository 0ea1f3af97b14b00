import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { ObjectStore } from '../../../src/engine/store/objects.js'
import { newId } from '../../../src/lib/ids.js'
import { type Backing, inFiles, inS3rver, inStrictBucket } from './object-places.js'

const shaOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const keyOf = (bytes: Buffer, tenant = 'tenant') => ObjectStore.key(tenant, shaOf(bytes))

describe.each([
  ['files of a data directory', inFiles],
  ['a server of S3 that enforces everything', (folder: string) => inStrictBucket(folder, true)],
  ['a server of S3 that knows no conditions', (folder: string) => inStrictBucket(folder, false)],
  ['s3rver', inS3rver],
])('objects in %s', (_name, start) => {
  let folder: string
  let backing: Backing
  let store: ObjectStore
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ks-port-'))
    backing = await start(folder)
    store = await backing.open()
  })
  afterEach(async () => {
    await backing.end()
    vi.unstubAllEnvs()
    removeFolder(folder)
  })

  const stage = (bytes: Buffer, limit = 1 << 30) => store.stage(newId(), Readable.from([bytes]), limit, 'a.txt')
  async function put(bytes: Buffer, tenant = 'tenant'): Promise<string> {
    const staged = await stage(bytes)
    const key = keyOf(bytes, tenant)
    await store.syncStaged([staged])
    await store.publish([{ staged, key }])
    await store.discard(staged.id)
    return key
  }
  async function removed(keys: string[], isOurs: () => boolean = () => true) {
    const gone: string[] = []
    const inDoubt: string[] = []
    await store.remove(keys, isOurs, { onRemoved: (key) => gone.push(key), onUncertain: (key) => inDoubt.push(key) })
    return { gone: gone.sort(), inDoubt }
  }

  it.each([0, 1, 32 * 1024, 32 * 1024 + 1, 300_000, 5_000_000])(
    'keep %i bytes under their hash and return them',
    async (size) => {
      const bytes = randomBytes(size)
      const key = await put(bytes)
      expect(key.slice(-64)).toBe(shaOf(bytes))
      expect((await store.bytes(key)).equals(bytes)).toBe(true)
      expect(await store.measure(key)).toMatchObject({ size, sha256: shaOf(bytes) })
      expect(await store.describe(key)).toMatchObject({ size })
      await store.local([key], async ([file]) => expect(readFileSync(file?.path ?? '').equals(bytes)).toBe(true))
      const handle = await store.open(key)
      expect((await handle.readFile()).equals(bytes)).toBe(true)
      await handle.close()
      expect(await backing.keys()).toEqual([key])
      expect(await store.listStaged()).toEqual([])
    },
  )

  it('may exceed the size of one request', { timeout: 120_000 }, async () => {
    const bytes = Buffer.concat([randomBytes(33_000_000), Buffer.alloc(34_200_000, 'large')])
    const key = await put(bytes)
    expect(await store.measure(key)).toMatchObject({ size: bytes.length, sha256: shaOf(bytes) })
    expect(await put(bytes)).toBe(key)
    expect(await backing.keys()).toEqual([key])
  })

  it('exist once per tenant when their bytes are equal', async () => {
    const bytes = Buffer.from('the same')
    const keys = [await put(bytes), await put(bytes, 'another')]
    expect(await put(bytes)).toBe(keys[0])
    expect(await backing.keys()).toEqual(keys.toSorted())
  })

  it('can be published many at once, while other work runs in between', async () => {
    const staged = await Promise.all(Array.from({ length: 70 }, (_, n) => stage(Buffer.from(`bytes ${n}`))))
    const entries = staged.map((one) => ({ staged: one, key: ObjectStore.key('tenant', one.sha256) }))
    let pauses = 0
    await store.syncStaged(staged)
    await store.publish(entries, async () => void pauses++)
    expect(pauses).toBeGreaterThan(1)
    expect(await backing.keys()).toEqual(entries.map(({ key }) => key).sort())
  })

  it('get replaced when they are damaged and the same bytes are published again', async () => {
    for (const bytes of [Buffer.from('small'), randomBytes(100_000)]) {
      const key = await put(bytes)
      for (const damage of [Buffer.alloc(bytes.length, 'x'), Buffer.from('of another size')]) {
        await backing.damage(key, damage)
        expect((await store.measure(key))?.sha256).toBe(shaOf(damage))
        await expect(store.bytes(key)).rejects.toMatchObject({ code: 'data-damaged' })
        await put(bytes)
        expect((await store.bytes(key)).equals(bytes)).toBe(true)
      }
    }
  })

  it.each([10, 200_000])('can be stored again after their removal (%i bytes)', async (size) => {
    const staged = await stage(randomBytes(size))
    const key = ObjectStore.key('tenant', staged.sha256)
    for (let round = 0; round < 2; round++) {
      await store.syncStaged([staged])
      await store.publish([{ staged, key }])
      expect((await store.measure(key))?.sha256).toBe(staged.sha256)
      expect(await removed([key])).toEqual({ gone: [key], inDoubt: [] })
      expect(await store.measure(key)).toBeUndefined()
    }
    await store.discard(staged.id)
    expect(await store.listStaged()).toEqual([])
  })

  it('can be distinguished from missing objects', async () => {
    const key = keyOf(Buffer.from('never put'))
    expect([await store.measure(key), await store.describe(key)]).toEqual([undefined, undefined])
    await expect(store.bytes(key)).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(store.open(key)).rejects.toMatchObject({ code: 'ENOENT' })
    const there = await put(Buffer.from('put'))
    await store.local([key, there], async (local) => {
      expect(() => readFileSync(local[0]?.path ?? '')).toThrow(/ENOENT/)
      expect(readFileSync(local[1]?.path ?? '', 'utf8')).toBe('put')
    })
    expect(await removed([key])).toEqual({ gone: [key], inDoubt: [] })
    await backing.lose(there)
    expect(await store.measure(there)).toBeUndefined()
  })

  it('can be measured many at once, whatever their state', async () => {
    const whole = await put(randomBytes(50_000))
    const damaged = await put(Buffer.from('as it was received'))
    await backing.damage(damaged, Buffer.from('as it was kept'))
    const gone = keyOf(Buffer.from('never put'))
    const [bad, ...rest] = await store.measureAll(['no key', whole, damaged, gone])
    expect(bad).toEqual({ error: expect.stringContaining('is malformed') })
    expect(rest).toMatchObject([
      { sha256: whole.slice(-64), size: 50_000 },
      { sha256: shaOf(Buffer.from('as it was kept')) },
      undefined,
    ])
  })

  it('appear in lists by tenant and key, page by page, with foreign entries', async () => {
    const texts = Array.from({ length: 25 }, (_, n) => Buffer.from(`listed ${n}`))
    const keys = (await Promise.all(texts.map((text) => put(text)))).sort()
    await put(Buffer.from('listed 0'), 'another')
    const stranger = `${ObjectStore.prefix('tenant')}sha256/ab/note`
    await backing.damage(stranger, Buffer.from('of a person'))
    const listed: string[] = []
    const { page: most = 7 } = backing
    for (let page = await store.list('tenant', '', most); page.length > 0; ) {
      for (const { key, isObject } of page) expect(isObject).toBe(key !== stranger)
      listed.push(...page.map(({ key }) => key))
      page = await store.list('tenant', listed.at(-1) ?? '', most)
    }
    expect(listed).toEqual([...keys, stranger].sort())
    const sizes = new Map(texts.map((text) => [keyOf(text), text.length]))
    const described = await store.describeAll(keys.map((key) => ({ key, isObject: true })))
    expect(described.map(({ key, size }) => [key, size])).toEqual(keys.map((key) => [key, sizes.get(key)]))
    await backing.lose(keys[3] ?? '')
    expect(await store.describeAll(keys.slice(3, 5).map((key) => ({ key, isObject: true })))).toMatchObject([
      { key: keys[4], isObject: true },
    ])
  })

  it('get removed only while their removal is still claimed', async () => {
    const keys = [await put(Buffer.from('a')), await put(Buffer.from('b'))].sort()
    expect(await removed(keys, () => false)).toEqual({ gone: [], inDoubt: [] })
    expect(await backing.keys()).toEqual(keys)
    let asked = 0
    expect((await removed(keys, () => ++asked === 1)).gone).toHaveLength(1)
    expect(await backing.keys()).toHaveLength(1)
    expect(await removed(keys)).toEqual({ gone: keys, inDoubt: [] })
    expect(await backing.keys()).toEqual([])
  })

  it('do not exist after an upload that is too large or interrupted', async () => {
    await expect(stage(Buffer.alloc(100_000), 50_000)).rejects.toMatchObject({ code: 'upload-too-large' })
    async function* cut() {
      yield Buffer.alloc(40_000)
      throw new Error('the client left')
    }
    await expect(store.stage(newId(), Readable.from(cut()), 1e6, 'a.md')).rejects.toThrow('the client left')
    expect([await store.listStaged(), await backing.keys()]).toEqual([[], []])
  })

  it('leave no staged files of an earlier process when the store opens', async () => {
    await stage(Buffer.alloc(100_000))
    expect(await store.listStaged()).toHaveLength(1)
    store = await backing.open()
    expect(await store.listStaged()).toEqual([])
  })

  it('cannot be requested by malformed keys', async () => {
    for (const key of ['../x', 'a/sha256/ab/../../x', '/etc/passwd', '']) {
      await expect((async () => store.bytes(key))()).rejects.toMatchObject({ code: 'data-damaged' })
      await expect((async () => store.describe(key))()).rejects.toMatchObject({ code: 'data-damaged' })
    }
  })
})
