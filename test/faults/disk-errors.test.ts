import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type BenchDaemon, startDaemon, temporaryFolder } from '../../bench/lib/daemon.js'
import { fillSpace, waitUntilIdle } from '../../bench/lib/upload.js'
import { until } from '../helpers/until.js'
import { type FaultShim, faultShim, type Rule, shimTrouble } from './rig/shim.js'

const GOES_ON_MS = 60_000
const home = temporaryFolder('disk-errors')
const dataDir = join(home.path, 'data')
let shim: FaultShim
let daemon: BenchDaemon
let spaceId: string

beforeAll(async () => {
  if (shimTrouble !== undefined) return
  mkdirSync(dataDir, { mode: 0o700 })
  shim = faultShim(dataDir)
  daemon = await startDaemon(dataDir, shim.env)
  const files = [{ filename: 'read.md', text: `# Read\n\n${'A sentence that is read. '.repeat(40)}` }]
  spaceId = (await fillSpace(daemon.client, 'errors', files)).spaceId
  await waitUntilIdle(daemon.client)
}, 120_000)
afterEach(() => shim?.setRules())
afterAll(async () => {
  await daemon?.kill()
  shim?.remove()
  home.remove()
})

let named = 0

async function answerOf(work: Promise<unknown>): Promise<{ status: unknown; code: unknown }> {
  return await work.then(
    () => ({ status: 'done', code: undefined }),
    ({ status, code }: { status?: unknown; code?: unknown }) => ({ status, code }),
  )
}

/** Uploads a unique file of this size. */
const upload = (bytes: number) =>
  answerOf(
    daemon.client.upload('POST /knowledge-spaces/{id}/documents/bulk', {
      path: { id: spaceId },
      field: 'files',
      files: [
        {
          filename: `${++named}.txt`,
          mimeType: 'text/plain',
          content: { bytes: Buffer.from(`File ${named}. ${'words '.repeat(bytes / 6)}`) },
        },
      ],
    }),
  )

const writeNote = () =>
  answerOf(
    daemon.client.request('PUT /knowledge-spaces/{id}/fs/write', {
      path: { id: spaceId },
      body: { path: `/workspaces/notes/${++named}.md`, content: 'a note' },
    }),
  )

const cat = (path = '/sources/uploads/read.md') =>
  answerOf(
    daemon.client.request('GET /knowledge-spaces/{id}/fs/cat', {
      path: { id: spaceId },
      query: { path },
    }),
  )

const FULL = { status: 503, code: 'storage-full' }
const UNAVAILABLE = { status: 503, code: 'unavailable' }
const DONE = { status: 'done', code: undefined }
const ANSWERS = {
  ENOSPC: FULL,
  EDQUOT: FULL,
  EFBIG: FULL,
  EROFS: UNAVAILABLE,
  EIO: UNAVAILABLE,
} as const satisfies Partial<Record<Rule['effect'], unknown>>

/** Steps of an upload that a disk may refuse. */
const PLACES: { name: string; rule: Omit<Rule, 'effect'>; bytes: number; effects: (keyof typeof ANSWERS)[] }[] = [
  {
    name: 'a small object is written',
    rule: { on: 'write', path: '/objects/tmp/' },
    bytes: 600,
    effects: ['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO'],
  },
  {
    name: 'a large object is written',
    rule: { on: 'write', path: '/objects/tmp/' },
    bytes: 120_000,
    effects: ['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO'],
  },
  {
    name: 'the file of an object is created',
    rule: { on: 'open', path: '/objects/tmp/' },
    bytes: 120_000,
    effects: ['ENOSPC', 'EDQUOT', 'EROFS', 'EIO'],
  },
  {
    name: 'the file of an object is synced',
    rule: { on: 'fsync', path: '/objects/' },
    bytes: 600,
    effects: ['ENOSPC', 'EDQUOT', 'EIO'],
  },
  {
    name: 'the folder of an object is created',
    rule: { on: 'mkdir', path: '/sha256/' },
    bytes: 600,
    effects: ['ENOSPC', 'EDQUOT', 'EROFS', 'EIO'],
  },
  {
    name: 'the file of an object is renamed',
    rule: { on: 'rename', path: '/sha256/' },
    bytes: 600,
    effects: ['ENOSPC', 'EDQUOT', 'EROFS', 'EIO'],
  },
]

for (const { name, rule, bytes, effects } of PLACES)
  test.skipIf(shimTrouble !== undefined)(`an upload fails with the code of the disk error when ${name}`, async () => {
    for (const effect of effects) {
      shim.setRules({ ...rule, effect })
      const refused = await upload(bytes)
      expect({ effect, ...refused }).toEqual({ effect, ...ANSWERS[effect] })
      expect(await cat()).toEqual(DONE)
      shim.setRules()
      // At once if the free space is known; a quota is checked again after a second.
      await until(async () => (await upload(bytes)).status === 'done', GOES_ON_MS)
    }
    expect(shim.hits().length).toBeGreaterThanOrEqual(effects.length)
  })

for (const effect of ['ENOSPC', 'EDQUOT', 'EROFS', 'EIO'] as const)
  test.skipIf(shimTrouble !== undefined)(
    `a write to the database that fails with ${effect} is refused with its code; later writes need no restart`,
    { timeout: 120_000 },
    async () => {
      shim.setRules({ on: 'write', effect, path: '/db/main.sqlite-wal' }, { on: 'write', effect, path: 'probe' })
      expect(await writeNote()).toEqual(ANSWERS[effect])
      // The condition continues, and nothing else is affected.
      expect((await writeNote()).status).toBe(503)
      expect(await cat()).toEqual(DONE)
      shim.setRules()
      await until(async () => (await writeNote()).status === 'done', GOES_ON_MS)
      const { components } = await daemon.client.request('GET /health', {})
      expect(components).toMatchObject({ database: true, storage: true })
    },
  )

test.skipIf(shimTrouble !== undefined)(
  'F20: after a failed sync of the log, writes are refused until a sync succeeds; no failed write reappears',
  { timeout: 240_000 },
  async () => {
    const path = { id: spaceId }
    const kept: string[] = []
    for (const count of [1, 2, Number.POSITIVE_INFINITY]) {
      const { client } = daemon
      const rule = { on: 'fsync', effect: 'EIO', path: '/db/main.sqlite-wal' } as const
      // The checkpoint thread also syncs the log: if it meets the fault, the write succeeds and another one is sent.
      for (let n = 0, isRefused = false; !isRefused; n++) {
        shim.setRules(Number.isFinite(count) ? { ...rule, count } : rule)
        const name = `/workspaces/synced/${count}-${n}.md`
        const body = { path: name, content: name }
        const answer = await answerOf(client.request('PUT /knowledge-spaces/{id}/fs/write', { path, body }))
        isRefused = answer.status !== 'done'
        if (isRefused) expect(answer).toEqual(UNAVAILABLE)
        else kept.push(name)
      }
      const health = await client.request('GET /health', {})
      // After a single bad sync, a later one may have succeeded already.
      if (!Number.isFinite(count)) expect(health).toMatchObject({ ok: false, components: { database: false } })
      expect(await cat()).toEqual(DONE)
      shim.setRules()
      await until(async () => (await client.request('GET /health', {})).ok, GOES_ON_MS)
      const good = `/workspaces/synced/kept-${count}.md`
      await client.request('PUT /knowledge-spaces/{id}/fs/write', { path, body: { path: good, content: 'kept' } })
      kept.push(good)
      await daemon.kill()
      daemon = await startDaemon(dataDir, shim.env)
      const { items } = await daemon.client.request('GET /knowledge-spaces/{id}/fs/ls', {
        path,
        query: { path: '/workspaces/synced', limit: '100' },
      })
      expect(items.map((item) => item.path).sort()).toEqual(kept.sort())
    }
  },
)

test.skipIf(shimTrouble !== undefined)(
  'a workspace file that the disk cannot read is refused as unavailable, and can be read later',
  async () => {
    expect(await writeNote()).toEqual(DONE)
    const note = `/workspaces/notes/${named}.md`
    shim.setRules({ on: 'read', effect: 'EIO', path: '/sha256/' })
    expect(await cat(note)).toEqual(UNAVAILABLE)
    shim.setRules()
    expect(await cat(note)).toEqual(DONE)
  },
)
