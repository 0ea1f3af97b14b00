import { execa } from 'execa'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sweepObjects } from '../../src/engine/objects/sweep.js'
import { freeRemovals } from '../../src/engine/rows/objects.js'
import { type Gateway, temporaryStore } from '../engine/objects/stores.js'

const HOURS = 3_600_000
const CERTAIN = { openedAt: 0, doubt: () => undefined, closed() {} }
/** More steps than anything takes, in case one is added. */
const STEPS = 20

/**
 * A process that uploads or deletes and kills itself right before its nth step, or right after it. Steps are what changes
 * rows or files.
 */
const CHILD = `
const [dist, root, what, size, loose, step, when] = process.argv.slice(1)
const { ObjectStore } = await import(dist + '/storage/objects.js')
const { FileObjects } = await import(dist + '/storage/object-files.js')
const { Database } = await import(dist + '/storage/database.js')
const { keepObjects } = await import(dist + '/objects/receive.js')
const { removeUnreferenced } = await import(dist + '/objects/remove.js')
const { loosen } = await import(dist + '/rows/objects.js')
const { insertFile, readyFile } = await import(dist + '/rows/chat/files.js')
const { sql } = await import(dist + '/storage/program.js')
const { createHash, randomUUID } = await import('node:crypto')
const { Readable } = await import('node:stream')
let steps = 0
const die = () => process.kill(process.pid, 'SIGKILL')
const mortal = (target, names) => new Proxy(target, { get(of, name) {
  const value = Reflect.get(of, name, of)
  if (typeof value !== 'function') return value
  if (!names.includes(name)) return value.bind(of)
  return async (...given) => {
    const mine = ++steps
    if (mine === Number(step) && when === 'before') die()
    const result = await value.apply(of, given)
    if (mine === Number(step) && when === 'after') die()
    return result
  }
} })
const context = {
  instance: randomUUID(),
  db: mortal(new Database(root + '/main.sqlite'), ['write']),
  objects: mortal(await FileObjects.open(root + '/objects'), ['stage', 'syncStaged', 'publish', 'remove', 'discard']),
  log: console,
}
const bytes = Buffer.alloc(Number(size), 'bytes that come and go')
const sha256 = createHash('sha256').update(bytes).digest('hex')
const key = ObjectStore.key('tenant', sha256)
const isLoose = loose === 'true'
const { objects, db } = context
if (what === 'upload') {
  const id = '01900000-0000-7000-8000-000000000001'
  const row = { id, tenant: 'tenant', app_id: 'app', end_user_id: 'user', name: 'a', extension: 'png',
    mime_type: 'image/png', size_bytes: bytes.length, sha256, object_key: key, created_at: Date.now() }
  const staged = await objects.stage('01900000-0000-7000-8000-000000000002', Readable.from([bytes]), 1e9, 'a')
  await keepObjects(context, { tenant: 'tenant', incoming: [{ staged, key }], ...(isLoose ? { isLoose } : {}),
    *begin() { if (!isLoose) yield* insertFile(row, 1) },
    commit: (held) => db.write(function* () { yield* held(); if (isLoose) yield* insertFile(row, 1); yield* readyFile({ tenant: 'tenant', id }, 1) }) })
} else {
  await db.write(function* () {
    yield* sql.run('DELETE FROM chat_files', [])
    yield* loosen({ tenant: 'tenant', key }, Date.now())
  })
  await removeUnreferenced(context, 'tenant', [key])
}
process.stdout.write('done')
`

let store: ReturnType<typeof temporaryStore>
beforeEach(() => {
  store = temporaryStore()
})
afterEach(() => store.end())

/** @returns whether it came to its end before that step */
async function runKilled(what: 'upload' | 'delete', size: number, isLoose: boolean, step: number, when: string) {
  const dist = new URL('../../dist/engine', import.meta.url).href
  const given = [dist, store.root, what, size, isLoose, step, when].map(String)
  const { stdout, signal, stderr } = await execa('node', ['--input-type=module', '-e', CHILD, '--', ...given], {
    reject: false,
  })
  expect(stdout === 'done' || signal === 'SIGKILL', stderr).toBe(true)
  return stdout === 'done'
}

/** What a start does, and what the clean-up does later. */
async function recover(gateway: Gateway): Promise<void> {
  await gateway.context.db.write(() => freeRemovals())
  await sweepObjects({ ...gateway.context, identity: CERTAIN }, Date.now() + 2 * HOURS)
}

const CASES = [
  { size: 20, isLoose: true },
  { size: 20, isLoose: false },
  { size: 100_000, isLoose: true },
  { size: 100_000, isLoose: false },
]

test.each(CASES)(
  'a process killed at any step of an upload of $size bytes loses and leaves nothing (loose: $isLoose)',
  {
    timeout: 300_000,
  },
  async ({ size, isLoose }) => {
    let killed = 0
    for (let step = 1; step <= STEPS; step++) {
      let isOver = false
      for (const when of ['before', 'after']) {
        const bytes = Buffer.alloc(size, 'bytes that come and go')
        isOver = await runKilled('upload', size, isLoose, step, when)
        if (!isOver) killed++
        const gateway = await store.gateway()
        await recover(gateway)
        expect(await gateway.missing(), `${when} step ${step}`).toEqual([])
        // a row of an upload that never ended is purged as one that expired
        for (const { id } of await gateway.rows()) await gateway.remove(id, bytes)
        expect(store.files(), `${when} step ${step}`).toEqual([])
        expect(await gateway.objectRows(), `${when} step ${step}`).toEqual([])
      }
      if (isOver) break
    }
    expect(killed).toBeGreaterThan(8)
  },
)

test('a process killed at any step of a deletion leaves nothing, and hinders no upload of the same bytes', {
  timeout: 300_000,
}, async () => {
  const bytes = Buffer.alloc(100_000, 'bytes that come and go')
  let killed = 0
  for (let step = 1; step <= STEPS; step++) {
    let isOver = false
    for (const [when, comesAgain] of [
      ['before', false],
      ['after', false],
      ['before', true],
      ['after', true],
    ] as const) {
      await (await store.gateway()).upload(bytes, false)
      isOver = await runKilled('delete', bytes.length, false, step, when)
      if (!isOver) killed++
      const gateway = await store.gateway()
      const name = `${when} step ${step}${comesAgain ? ', uploaded again' : ''}`
      if (comesAgain) {
        await gateway.context.db.write(() => freeRemovals())
        const id = await gateway.upload(bytes, true)
        expect(await gateway.missing(), name).toEqual([])
        await gateway.remove(id, bytes)
      }
      await recover(gateway)
      expect(await gateway.missing(), name).toEqual([])
      for (const { id } of await gateway.rows()) await gateway.remove(id, bytes)
      expect(await gateway.objectRows(), name).toEqual([])
      expect(store.files(), name).toEqual([])
    }
    if (isOver) break
  }
  expect(killed).toBeGreaterThan(8)
})
