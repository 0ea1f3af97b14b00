import { existsSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'
import { KsError } from '../../src/contract/errors.js'
import { DiskRoom } from '../../src/local/disk-room.js'
import { smallDisk } from '../helpers/small-disk.js'

const MEGABYTE = 1024 * 1024
const disk = smallDisk('disk-room', 32)
const path = join(disk.path, 'reserve')
afterEach(() => disk.free())
afterAll(() => disk.remove())

async function openRoom(): Promise<DiskRoom> {
  const room = new DiskRoom(path, disk.path)
  await room.begin()
  return room
}

test.skipIf(!disk.isMounted)('the disk reserve exists while there is space, and is released when there is none', async () => {
  const room = await openRoom()
  expect(statSync(path).size).toBe(4 * MEGABYTE)
  expect(room.state()).toMatchObject({ isFull: false, missingBytes: 0 })
  disk.fill(0)
  // Reported before any write has failed.
  expect(room.state()).toMatchObject({ isFull: true, freeBytes: 0, missingBytes: MEGABYTE })
  expect(await room.hasRoom()).toBe(false)
  expect(existsSync(path)).toBe(false)
  expect(room.state()).toMatchObject({ isFull: true, freeBytes: 4 * MEGABYTE, missingBytes: MEGABYTE })
  await room.close()
  // The rest is kept for the next start.
  expect(statSync(path).size).toBe(4 * MEGABYTE)
})

test.skipIf(!disk.isMounted)(
  'a start on a full disk releases the reserve, and creates it again once there is space',
  async () => {
    await (await openRoom()).close()
    disk.fill(0)
    const room = await openRoom()
    let told = 0
    room.onRoom(() => told++)
    expect([room.isFull, existsSync(path)]).toEqual([true, false])
    disk.fill(0)
    expect(await room.hasRoom()).toBe(false)
    disk.free()
    expect(await room.hasRoom()).toBe(true)
    expect([room.isFull, statSync(path).size, told]).toEqual([false, 4 * MEGABYTE, 1])
    await room.close()
  },
)

test.skipIf(!disk.isMounted)(
  'a write that failed for lack of space marks the disk as full although it reports free space',
  async () => {
    const room = await openRoom()
    room.note(new KsError('unavailable', 'another matter'))
    room.note(new KsError('storage-full', 'a limit of the process', { cause: coded('EFBIG') }))
    expect(room.isFull).toBe(false)
    room.note(coded('EDQUOT'))
    expect([room.isFull, existsSync(path)]).toEqual([true, false])
    expect(await room.hasRoom()).toBe(true)
    await room.close()
  },
)

test.skipIf(!disk.isMounted)('a start can use reserved space, even if other programs occupy the rest', async () => {
  const first = await openRoom()
  await first.started()
  disk.fill(0)
  expect(await first.hasRoom()).toBe(false)
  disk.fill(0)
  const second = await openRoom()
  expect(second.state()).toMatchObject({ isFull: true, freeBytes: MEGABYTE })
  await second.started()
  expect(second.state().freeBytes).toBe(0)
  await Promise.all([first.close(), second.close()])
})

test.skipIf(!disk.isMounted)('writes are possible where no reserve can be created', async () => {
  const folder = join(disk.path, 'folder')
  mkdirSync(folder, { recursive: true })
  const room = new DiskRoom(join(folder, 'missing', 'reserve'), folder)
  await room.begin()
  expect([room.isFull, await room.hasRoom()]).toEqual([false, true])
  await room.close()
})

function coded(code: string): Error {
  return Object.assign(new Error(code), { code })
}
