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

test.skipIf(!disk.isMounted)('room is kept while there is some, and given up where there is none', async () => {
  const room = await openRoom()
  expect(statSync(path).size).toBe(4 * MEGABYTE)
  expect(room.state()).toMatchObject({ isFull: false, missingBytes: 0 })
  disk.fill(0)
  // said at once, before any write has failed
  expect(room.state()).toMatchObject({ isFull: true, freeBytes: 0, missingBytes: MEGABYTE })
  expect(await room.hasRoom()).toBe(false)
  expect(existsSync(path)).toBe(false)
  expect(room.state()).toMatchObject({ isFull: true, freeBytes: 4 * MEGABYTE, missingBytes: MEGABYTE })
  await room.close()
  // what is left is kept for the next start
  expect(statSync(path).size).toBe(4 * MEGABYTE)
})

test.skipIf(!disk.isMounted)(
  'a start on a full disk gives the room up, and takes it again when there is some',
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
  'a write that found no room makes the disk full although it seems to have some',
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

test.skipIf(!disk.isMounted)('a start has room of its own, also where others took the rest', async () => {
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

test.skipIf(!disk.isMounted)('where no room can be kept, writing goes on', async () => {
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
