import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { KsError } from '../../../src/contract/errors.js'
import { BatchScheduler } from '../../../src/engine/store/batch-scheduler.js'
import { probeDisk } from '../../../src/engine/store/disk-probe.js'
import {
  hashAndClose,
  linkOrKeep,
  makeDirectories,
  matchesHash,
  readAllBytes,
  renameIfExists,
  writeDurably,
} from '../../../src/engine/store/durable-files.js'
import { listFolderEntries, listSortedNames } from '../../../src/engine/store/folder-entries.js'
import { hashNode, matchesRowHash } from '../../../src/engine/store/node-hash.js'
import { pack, unpack } from '../../../src/engine/store/packed.js'
import { type Read, sql } from '../../../src/engine/store/program.js'
import {
  cursorAfter,
  jsonPathSql,
  mapReadable,
  mapReadableIn,
  parseJsonCell,
  readablePage,
  readablePageIn,
  unlessDamaged,
  unlessDamagedError,
  unlessDamagedIn,
} from '../../../src/engine/store/readable.js'
import { DatabaseDamaged } from '../../../src/engine/store/sql-errors.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ks-files-'))
})
afterEach(() => {
  vi.restoreAllMocks()
  removeFolder(folder)
})

const at = (...names: string[]) => join(folder, ...names)
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

describe('durable files', () => {
  it('get their directories created one by one, each listed with its parent for a sync', async () => {
    expect(await makeDirectories(at('a', 'b', 'c'))).toEqual([
      at('a'),
      folder,
      at('a', 'b'),
      at('a'),
      at('a', 'b', 'c'),
      at('a', 'b'),
    ])
    expect(await makeDirectories(at('a', 'b'))).toEqual([])
    expect(await makeDirectories(at('a', 'd'))).toEqual([at('a', 'd'), at('a')])
    expect(statSync(at('a', 'd')).mode & 0o777).toBe(0o700)
    writeFileSync(at('file'), '')
    await expect(makeDirectories(at('file', 'below'))).rejects.toMatchObject({ code: 'ENOTDIR' })
    const both = await Promise.all([makeDirectories(at('x', 'y')), makeDirectories(at('x', 'y'))])
    expect(both.flat()).toContain(at('x'))
  })

  it('get written completely and never overwrite another file', async () => {
    await writeDurably(at('f'), Buffer.from('bytes'))
    expect([readFileSync(at('f'), 'utf8'), statSync(at('f')).mode & 0o777]).toEqual(['bytes', 0o440])
    await expect(writeDurably(at('f'), Buffer.from('other'))).rejects.toMatchObject({ code: 'EEXIST' })
    expect(readFileSync(at('f'), 'utf8')).toBe('bytes')
  })

  it('get read and hashed completely, small or large', async () => {
    for (const text of ['', 'short', 'x'.repeat(32 * 1024), 'y'.repeat(32 * 1024 + 1), 'z'.repeat(300_000)]) {
      writeFileSync(at('f'), text)
      const handle = await open(at('f'))
      expect((await readAllBytes(handle)).toString()).toBe(text)
      await handle.close()
      const again = await open(at('f'))
      expect(await hashAndClose(again, 1000)).toBe(sha256(text))
      await expect(again.stat()).rejects.toThrow()
    }
    expect(await matchesHash(Uint8Array.from(Buffer.from('short')), sha256('short'))).toBe(true)
    expect(await matchesHash(Uint8Array.from(Buffer.from('shorT')), sha256('short'))).toBe(false)
  })

  it('can be linked under a second name or renamed, when they exist', async () => {
    writeFileSync(at('f'), 'bytes')
    expect(await linkOrKeep(at('f'), at('g'))).toBe(at('g'))
    expect(statSync(at('g')).ino).toBe(statSync(at('f')).ino)
    await expect(linkOrKeep(at('nowhere'), at('h'))).rejects.toMatchObject({ code: 'ENOENT' })
    expect([renameIfExists(at('f'), at('h')), renameIfExists(at('f'), at('i'))]).toEqual([true, false])
    expect([existsSync(at('f')), existsSync(at('h')), existsSync(at('i'))]).toEqual([false, true, false])
    mkdirSync(at('full', 'of'), { recursive: true })
    expect(() => renameIfExists(at('h'), at('full'))).toThrow()
  })
})

describe('the probe of the disk with a small file', () => {
  it('returns nothing on success and the error otherwise, and leaves no file', () => {
    expect(probeDisk(folder, 100)).toBeUndefined()
    expect(existsSync(at('probe'))).toBe(false)
    expect(probeDisk(at('nowhere'), 100)).toMatchObject({ code: 'ENOENT' })
  })
})

describe('the entries of a folder', () => {
  it('sort like the keys that begin with them', async () => {
    for (const name of ['b', 'a', 'a-b']) mkdirSync(at(name))
    for (const name of ['a.txt', 'c']) writeFileSync(at(name), '')
    symlinkSync(at('b'), at('d'))
    const entries = await listFolderEntries(folder, (name) => name !== 'b/')
    expect(entries.map(({ name }) => name)).toEqual(['a-b/', 'a.txt', 'a/', 'b', 'c', 'd'])
    // A link counts as none.
    expect(entries.filter(({ isFile }) => isFile).map(({ name }) => name)).toEqual(['a.txt', 'c'])
    expect(await listSortedNames(folder)).toEqual(['a', 'a-b', 'a.txt', 'b', 'c', 'd'])
  })

  it('come as an empty list when the folder is missing or a file', async () => {
    writeFileSync(at('file'), '')
    for (const name of ['nowhere', 'file']) expect(await listFolderEntries(at(name), () => true)).toEqual([])
    expect(await listSortedNames(at('nowhere'))).toEqual([])
    expect(await listSortedNames(at('file'))).toEqual([])
    await expect(listFolderEntries(at('x'.repeat(300)), () => true)).rejects.toMatchObject({ code: 'ENAMETOOLONG' })
  })
})

describe('batched work', () => {
  const turn = () => new Promise((resolve) => setImmediate(resolve))

  it('waits for a turn of the event loop without new requests, and runs once', async () => {
    vi.spyOn(performance, 'now').mockReturnValue(1)
    let waiting = 0
    const done: number[] = []
    const gathering = new BatchScheduler(
      () => waiting,
      () => {
        done.push(waiting)
        waiting = 0
      },
    )
    const ask = () => {
      waiting++
      gathering.schedule()
    }
    ask()
    ask()
    await turn()
    expect(done).toEqual([])
    ask()
    await turn()
    expect(done).toEqual([])
    await turn()
    expect(done).toEqual([3])
    await turn()
    expect(done).toEqual([3])
    ask()
    for (let turns = 0; turns < 3; turns++) await turn()
    expect(done).toEqual([3, 1])
  })

  it('does not wait forever while each turn adds requests', async () => {
    let waiting = 0
    let isDone = false
    const gathering = new BatchScheduler(
      () => waiting,
      () => {
        isDone = true
      },
    )
    let now = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
    for (; !isDone && now < 100; now++) {
      waiting++
      gathering.schedule()
      await turn()
    }
    clock.mockRestore()
    expect([isDone, now > 10]).toEqual([true, true])
  })

  it('runs once in the next turn, even if scheduled several times', async () => {
    let runs = 0
    const gathering = new BatchScheduler(
      () => 1,
      () => runs++,
    )
    gathering.scheduleNextTurn()
    gathering.scheduleNextTurn()
    gathering.schedule()
    expect(runs).toBe(0)
    await turn()
    expect(runs).toBe(1)
    await turn()
    expect(runs).toBe(1)
  })
})

describe('packed values', () => {
  it.each([
    ['short', 10],
    ['long', 20_000],
  ])('survive packing and unpacking (%s)', async (_, length) => {
    const value = Array.from({ length }, (_unused, place) => ({ place, text: `${place} é` }))
    expect(await unpack(await pack(value))).toEqual(value)
  })
})

describe('the hash of a passage', () => {
  it('depends on its title, text and offsets', () => {
    const stored = { title: 'T', text: 'words', startOffset: 3, endOffset: 8 }
    const row = { title: 'T', text: 'words', start_offset: 3, end_offset: 8, row_hash: hashNode(stored) }
    expect(row.row_hash).toHaveLength(16)
    expect(matchesRowHash(row)).toBe(true)
    for (const change of [{ title: 'U' }, { text: 'word' }, { start_offset: 4 }, { end_offset: 9 }])
      expect(matchesRowHash({ ...row, ...change })).toBe(false)
    expect(matchesRowHash({ ...row, row_hash: row.row_hash.subarray(0, 15) })).toBe(false)
  })
})

describe('reading damaged rows', () => {
  const damaged = new KsError('data-damaged', 'a cell')
  const of = (row: number) => {
    if (row === 3) throw damaged
    return row * 10
  }
  function* ofIn(row: number): Read<number> {
    return of((yield* sql.get<{ row: number }>('', [row]))?.row ?? 0)
  }
  const run = <T>(program: Read<T>): T => {
    for (let step = program.next(); ; ) {
      if (step.done === true) return step.value
      step = program.next({ row: 'values' in step.value ? step.value.values[0] : undefined })
    }
  }

  it('skips the damaged rows, and rethrows other errors', () => {
    expect(mapReadable([1, 2, 3, 4], of)).toEqual([10, 20, 40])
    expect(run(mapReadableIn([1, 2, 3, 4], ofIn))).toEqual([10, 20, 40])
    expect([unlessDamaged(() => 1), unlessDamaged(() => of(3))]).toEqual([1, undefined])
    expect([run(unlessDamagedIn(() => ofIn(1))), run(unlessDamagedIn(() => ofIn(3)))]).toEqual([10, undefined])
    for (const error of [new Error('x'), new KsError('internal', 'x'), new DatabaseDamaged('x')])
      expect(() => unlessDamagedError(error)).toThrow(error)
    expect(() =>
      mapReadable([1], () => {
        throw new KsError('internal', 'x')
      }),
    ).toThrow('x')
  })

  it('returns pages that continue after the last readable row', () => {
    const cursorOf = (row: number) => String(of(row))
    expect(readablePage([1, 2, 4], 2, of, cursorOf)).toEqual({ items: [10, 20], nextCursor: '20' })
    expect(readablePage([1, 2], 2, of, cursorOf)).toEqual({ items: [10, 20] })
    expect(readablePage([1, 3, 4], 2, of, cursorOf)).toEqual({ items: [10], nextCursor: '10' })
    expect(readablePage([3, 4], 1, of, cursorOf)).toEqual({ items: [] })
    expect(run(readablePageIn([1, 3, 4], 2, ofIn, cursorOf))).toEqual({ items: [10], nextCursor: '10' })
    expect(run(readablePageIn([1], 2, ofIn, cursorOf))).toEqual({ items: [10] })
    expect(cursorAfter([1, 2], 2, cursorOf)).toEqual({})
    expect(cursorAfter([1, 2, 4], 2, cursorOf)).toEqual({ nextCursor: '20' })
  })

  it('parses the JSON of a cell, and throws data-damaged for invalid JSON', () => {
    expect(parseJsonCell('{"a":[1]}')).toEqual({ a: [1] })
    expect(() => parseJsonCell('{')).toThrow(expect.objectContaining({ code: 'data-damaged' }))
    expect(jsonPathSql('metadata', '$.a')).toContain("json_extract(metadata, '$.a')")
    expect(sql.get('x').next().value).toEqual({ verb: 'get', sql: 'x', values: [] })
  })
})
