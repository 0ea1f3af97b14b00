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

/** Uploads a file of its own, of so many bytes. */
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

/** Where bytes of uploads go, by the calls that a disk may refuse. */
const PLACES: { name: string; rule: Omit<Rule, 'effect'>; bytes: number; effects: (keyof typeof ANSWERS)[] }[] = [
  {
    name: 'a small file is written',
    rule: { on: 'write', path: '/objects/tmp/' },
    bytes: 600,
    effects: ['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO'],
  },
  {
    name: 'a large file is written',
    rule: { on: 'write', path: '/objects/tmp/' },
    bytes: 120_000,
    effects: ['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO'],
  },
  {
    name: 'a file is made',
    rule: { on: 'open', path: '/objects/tmp/' },
    bytes: 120_000,
    effects: ['ENOSPC', 'EDQUOT', 'EROFS', 'EIO'],
  },
  {
    name: 'a file is synced',
    rule: { on: 'fsync', path: '/objects/' },
    bytes: 600,
    effects: ['ENOSPC', 'EDQUOT', 'EIO'],
  },
  {
    name: 'a folder is made',
    rule: { on: 'mkdir', path: '/sha256/' },
    bytes: 600,
    effects: ['ENOSPC', 'EDQUOT', 'EROFS', 'EIO'],
  },
  {
    name: 'a file gets its name',
    rule: { on: 'rename', path: '/sha256/' },
    bytes: 600,
    effects: ['ENOSPC', 'EDQUOT', 'EROFS', 'EIO'],
  },
]

for (const { name, rule, bytes, effects } of PLACES)
  test.skipIf(shimTrouble !== undefined)(`what a disk refuses is said by its code where ${name}`, async () => {
    for (const effect of effects) {
      shim.setRules({ ...rule, effect })
      const refused = await upload(bytes)
      expect({ effect, ...refused }).toEqual({ effect, ...ANSWERS[effect] })
      expect(await cat()).toEqual(DONE)
      shim.setRules()
      // at once where that says how much is free; a quota is asked for again after a second
      await until(async () => (await upload(bytes)).status === 'done', GOES_ON_MS)
    }
    expect(shim.hits().length).toBeGreaterThanOrEqual(effects.length)
  })

for (const effect of ['ENOSPC', 'EDQUOT', 'EROFS', 'EIO'] as const)
  test.skipIf(shimTrouble !== undefined)(
    `a row that meets ${effect} is refused by its code, and rows are written again without a restart`,
    { timeout: 120_000 },
    async () => {
      shim.setRules({ on: 'write', effect, path: '/db/main.sqlite-wal' }, { on: 'write', effect, path: 'probe' })
      expect(await writeNote()).toEqual(ANSWERS[effect])
      // still so, and nothing else is hurt
      expect((await writeNote()).status).toBe(503)
      expect(await cat()).toEqual(DONE)
      shim.setRules()
      await until(async () => (await writeNote()).status === 'done', GOES_ON_MS)
      const { components } = await daemon.client.request('GET /health', {})
      expect(components).toMatchObject({ database: true, storage: true })
    },
  )

test.skipIf(shimTrouble !== undefined)(
  'F20: after a sync that failed nothing is written until a sync has succeeded, and what failed never comes back',
  { timeout: 240_000 },
  async () => {
    const path = { id: spaceId }
    const kept: string[] = []
    for (const count of [1, 2, Number.POSITIVE_INFINITY]) {
      const { client } = daemon
      const rule = { on: 'fsync', effect: 'EIO', path: '/db/main.sqlite-wal' } as const
      // the thread that empties the log syncs it as well: where it met the fault, the write goes well and another is made
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
      // where the one bad sync is over, a later one may have healed it already
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

test.skipIf(shimTrouble !== undefined)('a file whose bytes cannot be read is told so, and is read later', async () => {
  expect(await writeNote()).toEqual(DONE)
  const note = `/workspaces/notes/${named}.md`
  shim.setRules({ on: 'read', effect: 'EIO', path: '/sha256/' })
  expect(await cat(note)).toEqual(UNAVAILABLE)
  shim.setRules()
  expect(await cat(note)).toEqual(DONE)
})
