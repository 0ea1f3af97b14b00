import { afterAll, afterEach, expect, test } from 'vitest'
import { type BenchDaemon, runKs, startDaemon } from '../../bench/lib/daemon.js'
import { fillSpace, waitUntilIdle } from '../../bench/lib/upload.js'
import { mountSmallDisk } from '../helpers/small-disk.js'
import { until } from '../helpers/until.js'

const GOES_ON_MS = 60_000
const QUERIES = 20
const disk = mountSmallDisk('full-disk-start', 64)
let daemon: BenchDaemon | undefined

afterEach(async () => {
  disk.free()
  await daemon?.kill()
  daemon = undefined
})
afterAll(() => disk.remove())

const notes = (of: string) =>
  Array.from({ length: 12 }, (_, n) => ({
    filename: `${of}${n}.md`,
    text: `# The ferry ${n} of ${of}\n\nThe ferry ${n} leaves the harbour of ${of} at ${n} o'clock.\n`,
  }))

function started(): BenchDaemon {
  if (daemon === undefined) throw new Error('no daemon')
  return daemon
}

async function upload(
  spaceId: string,
  filename: string,
): Promise<{ status?: unknown; code?: unknown; retryAfter?: unknown }> {
  const bytes = Buffer.from(`# ${filename}\n\nA late ferry leaves at night.\n`)
  return await started()
    .client.upload('POST /knowledge-spaces/{id}/documents/bulk', {
      path: { id: spaceId },
      field: 'files',
      files: [{ filename, mimeType: 'text/markdown', content: { bytes } }],
    })
    .then(
      () => ({ status: 202 }),
      (error: { status?: unknown; code?: unknown; retryAfter?: unknown }) => error,
    )
}

async function ask(spaceId: string): Promise<string[]> {
  const events: string[] = []
  const body = { knowledgeSpaceId: spaceId, query: 'when does the ferry 3 leave the harbour?' }
  const stream = await started().client.stream('POST /queries', { body })
  for await (const { event } of stream.events) events.push(event)
  return events
}

/** Every kind of read of a space. */
async function readAll(spaceId: string, documentId: string): Promise<void> {
  const { client } = started()
  const path = { id: spaceId }
  const listed = await client.request('GET /knowledge-spaces/{id}/documents', { path, query: { limit: 100 } })
  expect(listed.items).toHaveLength(12)
  await client.request('GET /knowledge-spaces/{id}/documents/{documentId}/outline', { path: { ...path, documentId } })
  await client.request('GET /knowledge-spaces/{id}/status', { path })
  await client.request('GET /knowledge-spaces/{id}/stats', { path, query: {} })
  await client.request('GET /knowledge-spaces/{id}/fs/ls', { path, query: { path: '/sources/uploads', limit: '100' } })
  await client.request('GET /knowledge-spaces/{id}/fs/cat', { path, query: { path: '/sources/uploads/a3.md' } })
  await client.request('GET /knowledge-spaces/{id}/quality/traces', { path, query: {} })
  await client.request('GET /openapi.json', {})
}

async function search(spaceId: string): Promise<number> {
  const path = { id: spaceId }
  const body = { query: 'ferry' }
  return (await started().client.request('POST /knowledge-spaces/{id}/queries/search', { path, body })).items.length
}

async function isRefused(spaceId: string): Promise<void> {
  const { client } = started()
  expect(await upload(spaceId, 'late.md')).toMatchObject({ status: 503, code: 'storage-full', retryAfter: 5 })
  expect(await client.request('GET /health', {})).toMatchObject({ ok: true, components: { storage: false } })
  const { storage } = await client.request('GET /daemon/status', { query: {} })
  expect(storage).toMatchObject({ isFull: true })
  expect(storage?.missingBytes).toBeGreaterThan(1_000_000)
  const doctor = await runKs(disk.path, ['doctor', '--format', 'table'])
  expect([doctor.code, doctor.stdout]).toEqual([1, expect.stringMatching(/daemon.*disk is full: .* more needed/)])
  const status = await runKs(disk.path, ['daemon', 'status', '--format', 'table'])
  expect(status.stdout).toMatch(/^disk +full: .* more needed; reads and queries still work$/m)
}

async function goesOn(spaceId: string, count: number): Promise<void> {
  const { client } = started()
  expect(await upload(spaceId, 'late.md')).toEqual({ status: 202 })
  await until(async () => {
    const path = { id: spaceId }
    const { items } = await client.request('GET /knowledge-spaces/{id}/documents', { path, query: { limit: 100 } })
    return items.length === count && items.every(({ parserStatus }) => parserStatus === 'parsed')
  }, GOES_ON_MS)
  expect(await client.request('GET /health', {})).toMatchObject({ ok: true, components: { storage: true } })
}

for (const end of ['stopped', 'killed'] as const)
  test.skipIf(!disk.isMounted)(
    `F19: a daemon that was ${end} starts on a full disk, answers reads and queries, and writes once there is space`,
    { timeout: 240_000 },
    async () => {
      daemon = await startDaemon(disk.path)
      const { spaceId, documents } = await fillSpace(daemon.client, end, notes('a'))
      const documentId = documents.get('a3.md') ?? ''
      await waitUntilIdle(daemon.client)
      await (end === 'killed' ? daemon.kill() : daemon.stop())
      disk.fill(0)

      daemon = await startDaemon(disk.path)
      const { pid, client } = daemon
      for (let round = 0; round < QUERIES; round++) {
        await readAll(spaceId, documentId)
        expect(await search(spaceId)).toBeGreaterThan(0)
        expect((await ask(spaceId)).at(-1)).toBe('answer.done')
      }
      await isRefused(spaceId)
      // Deleting frees space, so it must work.
      await client.request('DELETE /knowledge-spaces/{id}/documents/bulk', {
        path: { id: spaceId },
        body: { documentIds: [documentId] },
      })
      disk.free()
      await goesOn(spaceId, 12)
      expect(started().pid).toBe(pid)
    },
  )

test.skipIf(!disk.isMounted)(
  'a daemon starts repeatedly while other programs use the space that it released',
  { timeout: 240_000 },
  async () => {
    daemon = await startDaemon(disk.path)
    const { spaceId, documents } = await fillSpace(daemon.client, 'taken', notes('a'))
    await waitUntilIdle(daemon.client)
    for (let round = 0; round < 3; round++) {
      disk.fill(0)
      // This releases the space that is reserved for the end of running work.
      expect(await upload(spaceId, 'late.md')).toMatchObject({ status: 503 })
      disk.fill(0)
      await (round === 1 ? daemon.stop() : daemon.kill())
      disk.fill(0)
      daemon = await startDaemon(disk.path)
      await readAll(spaceId, documents.get('a3.md') ?? '')
      expect(['answer.done', 'answer.error']).toContain((await ask(spaceId)).at(-1))
      await isRefused(spaceId)
    }
    disk.free()
    await goesOn(spaceId, 13)
    await until(async () => (await search(spaceId)) > 0, GOES_ON_MS)
    expect((await ask(spaceId)).at(-1)).toBe('answer.done')
  },
)
