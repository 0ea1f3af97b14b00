import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { listSortedNames } from '../../../src/engine/store/folder-entries.js'
import { FileObjects } from '../../../src/engine/store/object-files.js'
import { ObjectStore } from '../../../src/engine/store/objects.js'
import { newId } from '../../../src/lib/ids.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ks-files-'))
})
afterEach(() => removeFolder(folder))

const at = (...names: string[]) => join(folder, ...names)
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

describe('objects in files', () => {
  let store: FileObjects
  beforeEach(async () => {
    store = await FileObjects.open(folder)
  })
  const TENANT = 'tenant-a'
  const staged = (text: string | string[], id = newId(), limit = 1_000_000) =>
    store.stage(
      id,
      Readable.from((Array.isArray(text) ? text : [text]).map((part) => Buffer.from(part))),
      limit,
      'a.md',
    )
  async function put(text: string): Promise<string> {
    const one = await staged(text)
    const key = ObjectStore.key(TENANT, one.sha256)
    await store.syncStaged([one])
    await store.publish([{ staged: one, key }])
    await store.discard(one.id)
    return key
  }
  const temporary = () => listSortedNames(at('tmp'))

  it('stay in memory before publication if they are small, and are written to a file otherwise', async () => {
    const small = await staged(['a'.repeat(32 * 1024)])
    expect([small.size, small.bytes?.length, await temporary()]).toEqual([32_768, 32_768, []])
    const large = await staged(['a'.repeat(32 * 1024), 'b', 'c'.repeat(10)])
    expect([large.size, large.bytes, await temporary()]).toEqual([32_779, undefined, [large.id]])
    expect(large.sha256).toBe(sha256(`${'a'.repeat(32 * 1024)}b${'c'.repeat(10)}`))
    expect(readFileSync(at('tmp', large.id), 'utf8')).toHaveLength(32_779)
    expect((await staged([])).sha256).toBe(sha256(''))
  })

  it('leave no temporary file if their upload exceeds the limit or is interrupted', async () => {
    await expect(staged(['x'.repeat(40_000), 'y'.repeat(40_000)], newId(), 50_000)).rejects.toMatchObject({
      code: 'upload-too-large',
    })
    await expect(staged('x', newId(), 0)).rejects.toMatchObject({ code: 'upload-too-large' })
    expect((await staged('xy', newId(), 2)).size).toBe(2)
    async function* cut() {
      yield Buffer.alloc(40_000)
      throw new Error('the client left')
    }
    await expect(store.stage(newId(), Readable.from(cut()), 1e6, 'a.md')).rejects.toThrow('the client left')
    expect(await temporary()).toEqual([])
  })

  it('stay unchanged when the same bytes are stored again, but get replaced if they are damaged', async () => {
    const key = await put('whole')
    const { ino } = statSync(at(key))
    expect(await put('whole')).toBe(key)
    expect(statSync(at(key)).ino).toBe(ino)
    for (const damage of ['other', 'longer than it was']) {
      chmodSync(at(key), 0o600)
      writeFileSync(at(key), damage)
      await put('whole')
      expect((await store.bytes(key)).toString()).toBe('whole')
    }
    expect(await temporary()).toEqual([])
  })

  it('keep their temporary file until it is discarded if they are large, for another publication', async () => {
    const text = 'x'.repeat(50_000)
    const one = await staged(text)
    const key = ObjectStore.key(TENANT, one.sha256)
    await store.syncStaged([one])
    await store.publish([{ staged: one, key }])
    expect(await temporary()).toEqual([one.id])
    rmSync(at(key))
    await store.publish([{ staged: one, key }])
    expect((await store.bytes(key)).toString()).toBe(text)
    await store.discard(one.id)
    await store.discard(one.id)
    expect(await temporary()).toEqual([])
  })

  it('fail to publish when another file is in the way', async () => {
    const one = await staged('text')
    const key = ObjectStore.key(TENANT, one.sha256)
    mkdirSync(at(dirname(dirname(key))), { recursive: true })
    writeFileSync(at(dirname(key)), 'a file')
    await store.syncStaged([one])
    await expect(store.publish([{ staged: one, key }])).rejects.toMatchObject({ code: 'upload-failed' })
  })

  it('can be read, measured and described, and missing or damaged objects are detected', async () => {
    const key = await put('text')
    expect((await store.bytes(key)).toString()).toBe('text')
    const { mtimeMs } = statSync(at(key))
    expect(await store.measure(key)).toEqual({ size: 4, sha256: sha256('text'), modifiedAt: mtimeMs })
    expect(await store.describe(key)).toEqual({ size: 4, modifiedAt: mtimeMs })
    const handle = await store.open(key)
    await handle.close()
    expect(await store.local([key], async (files) => files)).toEqual([{ path: at(key), root: store.realRoot }])
    chmodSync(at(key), 0o600)
    writeFileSync(at(key), 'texT')
    await expect(store.bytes(key)).rejects.toMatchObject({ code: 'data-damaged' })
    expect((await store.measure(key))?.sha256).toBe(sha256('texT'))
    rmSync(at(key))
    expect([await store.measure(key), await store.describe(key)]).toEqual([undefined, undefined])
    mkdirSync(at(key))
    expect(await store.describe(key)).toBeUndefined()
    await expect(store.bytes(key)).rejects.toThrow()
    for (const no of ['x', '../x'])
      expect(() => store.path(no)).toThrow(expect.objectContaining({ code: 'data-damaged' }))
  })

  it('stay during a backup, until a minute after the backup last touched its file', async () => {
    expect(store.isPinned()).toBe(false)
    writeFileSync(at('being-copied'), '')
    expect(store.isPinned()).toBe(true)
    const key = await put('text')
    const gone: string[] = []
    await store.remove([key], () => true, { onRemoved: (one) => void gone.push(one) })
    expect([gone, existsSync(at(key))]).toEqual([[], true])
    for (const [seconds, pinned] of [
      [-50, true],
      [-70, false],
      [50, true],
      [70, false],
    ] as const) {
      const time = Date.now() / 1000 + seconds
      utimesSync(at('being-copied'), time, time)
      expect(store.isPinned()).toBe(pinned)
    }
    await store.remove([key], () => true, { onRemoved: (one) => void gone.push(one) })
    expect([gone, existsSync(at(key)), await temporary()]).toEqual([[key], false, []])
  })

  it('count as removed when they are missing, and stay when another process takes the removal over', async () => {
    const keys = [await put('a'), await put('b'), await put('c')]
    rmSync(at(keys[0] ?? ''))
    let turns = 0
    const gone: string[] = []
    await store.remove(keys, () => turns++ < 2, { onRemoved: (one) => void gone.push(one) })
    expect(gone).toEqual(keys.slice(0, 2))
    expect(keys.map((key) => existsSync(at(key)))).toEqual([false, false, true])
  })

  it('have temporary files that are listed by id, with size and times', async () => {
    const ids = [newId(), newId()]
    for (const id of ids.toReversed()) writeFileSync(at('tmp', id), 'half')
    writeFileSync(at('tmp', 'readme'), 'mine')
    mkdirSync(at('tmp', newId()))
    const { mtimeMs, ctimeMs } = statSync(at('tmp', ids[0] ?? ''))
    const listed = await store.listStaged()
    expect(listed.map(({ id }) => id)).toEqual(ids)
    expect(listed[0]).toEqual({ id: ids[0], size: 4, modifiedAt: mtimeMs, changedAt: ctimeMs })
    rmSync(at('tmp'), { recursive: true })
    expect(await store.listStaged()).toEqual([])
  })

  it('have keys that are distinguished from keys of other tenants and other names', () => {
    const key = ObjectStore.key(TENANT, 'ab'.repeat(32))
    expect(key).toBe(`${sha256(TENANT).slice(0, 24)}/sha256/ab/${'ab'.repeat(32)}`)
    expect([ObjectStore.isKey(key), ObjectStore.isKey(`${key}0`)]).toEqual([true, false])
    expect(ObjectStore.isKeyOf(TENANT, key)).toBe(true)
    expect(ObjectStore.isKeyOf('tenant-b', key)).toBe(false)
    expect(ObjectStore.isKeyOf(TENANT, `${ObjectStore.prefix(TENANT)}x`)).toBe(false)
  })
})
