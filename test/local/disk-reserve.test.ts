import { existsSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'
import { KsError } from '../../src/contract/errors.js'
import { DiskReserve } from '../../src/local/disk-reserve.js'
import { mountSmallDisk } from '../helpers/small-disk.js'

const MEGABYTE = 1024 * 1024
const disk = mountSmallDisk('disk-room', 32)
const path = join(disk.path, 'reserve')
afterEach(() => disk.free())
afterAll(() => disk.remove())

async function openRoom(): Promise<DiskReserve> {
  const room = new DiskReserve(path, disk.path)
  await room.start()
  return room
}

test.skipIf(!disk.isMounted)(
  'the disk reserve exists while there is space, and is released when there is none',
  async () => {
    const room = await openRoom()
    expect(statSync(path).size).toBe(4 * MEGABYTE)
    expect(room.getState()).toMatchObject({ isFull: false, missingBytes: 0 })
    disk.fill(0)
    // Reported before any write has failed.
    expect(room.getState()).toMatchObject({ isFull: true, freeBytes: 0, missingBytes: MEGABYTE })
    expect(await room.hasSpace()).toBe(false)
    expect(existsSync(path)).toBe(false)
    expect(room.getState()).toMatchObject({ isFull: true, freeBytes: 4 * MEGABYTE, missingBytes: MEGABYTE })
    await room.close()
    // The rest is kept for the next start.
    expect(statSync(path).size).toBe(4 * MEGABYTE)
  },
)

test.skipIf(!disk.isMounted)(
  'a start on a full disk releases the reserve, and creates it again once there is space',
  async () => {
    await (await openRoom()).close()
    disk.fill(0)
    const room = await openRoom()
    let told = 0
    room.onSpaceAvailable(() => told++)
    expect([room.isFull, existsSync(path)]).toEqual([true, false])
    disk.fill(0)
    expect(await room.hasSpace()).toBe(false)
    disk.free()
    expect(await room.hasSpace()).toBe(true)
    expect([room.isFull, statSync(path).size, told]).toEqual([false, 4 * MEGABYTE, 1])
    await room.close()
  },
)

test.skipIf(!disk.isMounted)(
  'a write that failed for lack of space marks the disk as full although it reports free space',
  async () => {
    const room = await openRoom()
    room.noteError(new KsError('unavailable', 'another matter'))
    room.noteError(new KsError('storage-full', 'a limit of the process', { cause: coded('EFBIG') }))
    expect(room.isFull).toBe(false)
    room.noteError(coded('EDQUOT'))
    expect([room.isFull, existsSync(path)]).toEqual([true, false])
    expect(await room.hasSpace()).toBe(true)
    await room.close()
  },
)

test.skipIf(!disk.isMounted)('a start can use reserved space, even if other programs occupy the rest', async () => {
  const first = await openRoom()
  await first.restoreStartReserve()
  disk.fill(0)
  expect(await first.hasSpace()).toBe(false)
  disk.fill(0)
  const second = await openRoom()
  expect(second.getState()).toMatchObject({ isFull: true, freeBytes: MEGABYTE })
  await second.restoreStartReserve()
  expect(second.getState().freeBytes).toBe(0)
  await Promise.all([first.close(), second.close()])
})

test.skipIf(!disk.isMounted)('the disk does not count as full where no reserve can be created', async () => {
  const folder = join(disk.path, 'folder')
  mkdirSync(folder, { recursive: true })
  const room = new DiskReserve(join(folder, 'missing', 'reserve'), folder)
  await room.start()
  expect([room.isFull, await room.hasSpace()]).toEqual([false, true])
  await room.close()
})

function coded(code: string): Error {
  return Object.assign(new Error(code), { code })
}
