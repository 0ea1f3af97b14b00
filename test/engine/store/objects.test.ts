import { createHash, randomBytes } from 'node:crypto'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { createCompiler } from '../../../src/engine/readers/compiler.js'
import { FileObjects } from '../../../src/engine/store/object-files.js'
import { ObjectStore } from '../../../src/engine/store/objects.js'
import { newId } from '../../../src/lib/ids.js'

let root: string
let store: FileObjects

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'ks-objects-'))
  store = await FileObjects.open(root)
})
afterEach(() => removeFolder(root))

const stage = (bytes: Buffer, limit = 1 << 20) => store.stage(newId(), Readable.from([bytes]), limit, 'a.txt')
const put = async (bytes: Buffer) => {
  const staged = await stage(bytes)
  const key = ObjectStore.key('tenant', staged.sha256)
  await store.syncStaged([staged])
  await store.publish([{ staged, key }])
  await store.discard(staged.id)
  return key
}

describe('the object store of a data directory', () => {
  it('stores bytes under their hash and returns them unchanged', async () => {
    const bytes = randomBytes(200_000)
    const key = await put(bytes)
    expect(key.endsWith(createHash('sha256').update(bytes).digest('hex'))).toBe(true)
    expect(readFileSync(store.path(key)).equals(bytes)).toBe(true)
    expect(readdirSync(join(root, 'tmp'))).toEqual([])
  })

  it('creates the folder of an object again after a manual removal', async () => {
    const bytes = Buffer.from('the same')
    const key = await put(bytes)
    rmSync(dirname(store.path(key)), { recursive: true })
    expect(await put(bytes)).toBe(key)
    expect(readFileSync(store.path(key)).equals(bytes)).toBe(true)
  })

  it('publishes many objects in batches, and lets other work run in between', async () => {
    const staged = await Promise.all(Array.from({ length: 70 }, (_, n) => stage(Buffer.from(`bytes ${n}`))))
    const entries = staged.map((one) => ({ staged: one, key: ObjectStore.key('tenant', one.sha256) }))
    await store.syncStaged(staged)
    const named: number[] = []
    await store.publish(entries, async () => {
      named.push(entries.filter(({ key }) => existsSync(store.path(key))).length)
    })
    expect(named).toEqual([32, 64])
    expect(entries.every(({ key }) => existsSync(store.path(key)))).toBe(true)
  })

  it('stores equal bytes once, with different keys per tenant', async () => {
    const bytes = Buffer.from('the same')
    expect(await put(bytes)).toBe(await put(bytes))
    const hash = createHash('sha256').update(bytes).digest('hex')
    expect(ObjectStore.key('a', hash)).not.toBe(ObjectStore.key('b', hash))
  })

  it('rejects an upload above the limit and leaves no temporary file', async () => {
    await expect(stage(Buffer.alloc(11), 10)).rejects.toMatchObject({ code: 'upload-too-large' })
    expect(readdirSync(join(root, 'tmp'))).toEqual([])
  })

  it('A28: follows no symbolic links in a received data directory', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'ks-outside-'))
    const compiler = createCompiler()
    try {
      const secret = Buffer.from('a key of the user')
      const hash = createHash('sha256').update(secret).digest('hex')
      const file = await put(Buffer.from('first'))
      const folder = await put(Buffer.from('second'))
      writeFileSync(join(outside, 'key'), secret)
      writeFileSync(join(outside, basename(folder)), secret)
      rmSync(store.path(file))
      symlinkSync(join(outside, 'key'), store.path(file))
      rmSync(dirname(store.path(folder)), { recursive: true })
      symlinkSync(outside, dirname(store.path(folder)))
      for (const key of [file, folder]) {
        await expect(store.bytes(key)).rejects.toMatchObject({ code: 'EOUTSIDE' })
        await expect(store.measure(key)).rejects.toMatchObject({ code: 'EOUTSIDE' })
        expect(await store.measureAll([key])).toEqual([{ error: expect.stringContaining('leads out of its folder') }])
        const read = { path: store.path(key), root: store.realRoot, filename: 'a.txt' }
        const [result] = await compiler.compile([read])
        expect(result).toMatchObject({ ok: false, failure: { message: 'a.txt cannot be opened: EOUTSIDE' } })
      }
      // Uploading the document again stores its own bytes there.
      const again = ObjectStore.key('tenant', hash)
      await put(secret)
      rmSync(store.path(again))
      symlinkSync(join(outside, 'key'), store.path(again))
      await put(secret)
      expect(lstatSync(store.path(again)).isFile()).toBe(true)
    } finally {
      await compiler.close()
      removeFolder(outside)
    }
  })

  it('removes an object only while the removal is still claimed', async () => {
    const key = await put(Buffer.from('held'))
    const gone: string[] = []
    const remove = (isOurs: boolean) => store.remove([key], () => isOurs, { onRemoved: (one) => gone.push(one) })
    await remove(false)
    expect(gone).toEqual([])
    expect(existsSync(store.path(key))).toBe(true)
    await remove(true)
    expect(existsSync(store.path(key))).toBe(false)
    // A missing object is no failure: two processes may remove the same one.
    await remove(true)
    expect(gone).toEqual([key, key])
    expect(readdirSync(join(root, 'tmp'))).toEqual([])
  })

  it('measures many objects in a thread like a single object, whatever their state', async () => {
    const keys = await Promise.all([10, 300_000, 0].map((size) => put(randomBytes(size))))
    const damaged = await put(Buffer.from('as it was received'))
    rmSync(store.path(damaged))
    writeFileSync(store.path(damaged), 'as the disk left it')
    const gone = ObjectStore.key('tenant', 'ab'.repeat(32))
    const folder = ObjectStore.key('tenant', 'cd'.repeat(32))
    mkdirSync(store.path(folder), { recursive: true })
    const all = [...keys, damaged, gone, folder]
    const measured = await store.measureAll(['no key', ...all])
    expect(measured[0]).toEqual({ error: expect.stringContaining('is malformed') })
    for (const [place, key] of all.entries()) {
      const alone = await store.measure(key).catch((error: unknown) => ({ error: String(error) }))
      expect(measured[place + 1]).toEqual(alone)
    }
    expect(measured.slice(1, 4).map((one) => one !== undefined && 'sha256' in one && one.sha256)).toEqual(
      keys.map((key) => key.slice(-64)),
    )
  })

  it.each([10, 200_000])('accepts an object of %i bytes again after its removal', async (size) => {
    const staged = await stage(randomBytes(size))
    const key = ObjectStore.key('tenant', staged.sha256)
    for (let round = 0; round < 2; round++) {
      await store.syncStaged([staged])
      await store.publish([{ staged, key }])
      expect((await store.measure(key))?.sha256).toBe(staged.sha256)
      await store.remove([key], () => true, { onRemoved: () => undefined })
    }
  })

  it('removes staged leftovers of an earlier process and no other files', async () => {
    writeFileSync(join(root, 'tmp', newId()), 'half')
    writeFileSync(join(root, 'tmp', 'note'), 'not ours')
    await FileObjects.open(root)
    expect(readdirSync(join(root, 'tmp'))).toEqual(['note'])
  })

  it('rejects malformed object keys', () => {
    for (const key of ['../x', 'a/sha256/ab/../../x', '/etc/passwd', '']) expect(() => store.path(key)).toThrow(/form/)
  })

  it('lists the files of a tenant page by page like a plain listing, with foreign entries', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(ENTRY, { maxLength: 30 }),
        fc.integer({ min: 1, max: 40 }),
        KEY,
        async (...drawn) => {
          const [entries, limit, after] = drawn
          const folder = mkdtempSync(join(tmpdir(), 'ks-listed-'))
          try {
            const listed = await FileObjects.open(folder)
            mkdirSync(join(folder, PREFIX))
            for (const entry of entries) make(join(folder, PREFIX), entry)
            make(join(folder, ObjectStore.prefix('somebody else')), 'sha256/ab/x')
            const plain = plainly(join(folder, PREFIX)).map((name) => PREFIX + name)
            const keys = async (from: string, most: number) =>
              (await listed.list('tenant', from, most)).map(({ key }) => key)
            const start = PREFIX + after
            expect(await keys(start, limit)).toEqual(plain.filter((key) => key > start).slice(0, limit))
            const paged: string[] = []
            for (let page = await keys('', limit); page.length > 0; page = await keys(paged.at(-1) ?? '', limit))
              paged.push(...page)
            expect(paged).toEqual(plain)
          } finally {
            removeFolder(folder)
          }
        },
      ),
      { numRuns: 60 },
    )
  })
})

const PREFIX = ObjectStore.prefix('tenant')
const HASH = fc
  .constantFrom('00', '0f', 'ab', 'ff')
  .chain((start) => fc.stringMatching(/^[0-9a-f]{62}$/).map((rest) => start + rest))
/** Names that sort before, at and after the slash at the end of a folder name. */
const NAME = fc.constantFrom('ab', 'ab-', 'ab.x', 'ab0', 'abc', 'AB', 'sha256', 'sha256-', 'sha256x', 'x', '~')
const KEY = fc.oneof(
  HASH.map((hash) => `sha256/${hash.slice(0, 2)}/${hash}`),
  NAME.map((name) => `sha256/ab/${name}`),
  NAME.map((name) => `sha256/${name}`),
  NAME,
)
/** A path with a slash at its end is a folder, otherwise a file. */
const ENTRY = fc.tuple(KEY, fc.boolean()).map(([key, isFolder]) => (isFolder ? `${key}/` : key))

/** Creates a file or folder, unless another entry is in the way. */
function make(folder: string, entry: string): void {
  try {
    mkdirSync(join(folder, entry.endsWith('/') ? entry : dirname(entry)), { recursive: true })
    if (!entry.endsWith('/')) writeFileSync(join(folder, entry), entry)
  } catch {}
}

/** Every file of a tenant and every folder that is not for objects, sorted by name. */
function plainly(folder: string, inside = ''): string[] {
  const names = readdirSync(join(folder, inside), { withFileTypes: true }).flatMap((entry) => {
    const name = inside + entry.name
    const isOpened = entry.isDirectory() && /^sha256(\/[0-9a-f]{2})?$/.test(name)
    return isOpened ? plainly(folder, `${name}/`) : [name]
  })
  return inside === '' ? names.sort() : names
}
