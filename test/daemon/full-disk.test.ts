import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type BenchDaemon, runKs, startDaemon } from '../../bench/lib/daemon.js'
import { mountSmallDisk } from '../helpers/small-disk.js'
import { until } from '../helpers/until.js'

const disk = mountSmallDisk('full-disk', 48)
const dataDir = disk.path
let daemon: BenchDaemon | undefined

afterAll(async () => {
  await daemon?.kill()
  disk.remove()
})

async function refusal(work: Promise<unknown>): Promise<{ status?: unknown; code?: unknown }> {
  return work.then(
    () => ({ status: 'was done' }),
    (error: { status?: unknown; code?: unknown }) => ({ status: error.status, code: error.code }),
  )
}

test.skipIf(!disk.isMounted)(
  'F19: every write to a full disk is refused with storage-full, reads still work, and writes work once there is space',
  { timeout: 180_000 },
  async () => {
    daemon = await startDaemon(dataDir)
    const { client } = daemon
    const space = await client.request('POST /knowledge-spaces', { body: { name: 'Full', slug: 'full' } })
    const path = { id: space.id }
    const upload = (name: string, bytes: number) =>
      client.upload('POST /knowledge-spaces/{id}/documents/bulk', {
        path,
        field: 'files',
        files: [
          { filename: name, mimeType: 'text/plain', content: { bytes: Buffer.alloc(bytes, 'words of a text ') } },
        ],
      })
    await upload('before.md', 1_000)
    const FULL = { status: 503, code: 'storage-full' }

    // A large file while it arrives, then less space than a small one needs.
    disk.fill(256 * 1024)
    expect(await refusal(upload('large.txt', 4_000_000))).toEqual(FULL)
    disk.fill(0)
    expect(await refusal(upload('small.md', 20_000))).toEqual(FULL)
    expect(await refusal(upload('large.txt', 100_000))).toEqual(FULL)
    const write = client.request('PUT /knowledge-spaces/{id}/fs/write', {
      path,
      body: { path: '/workspaces/notes/a.md', content: 'x'.repeat(60_000) },
    })
    expect(await refusal(write)).toEqual(FULL)
    // Rows: the log of the database grows while there is space.
    const statuses = new Set<unknown>()
    for (let i = 0; i < 200 && !statuses.has(503); i++) {
      const made = client.request('POST /knowledge-spaces', {
        body: { name: `More ${i}`, slug: `more-${i}`, description: 'd'.repeat(1_500) },
      })
      const { status, code } = await refusal(made)
      statuses.add(status)
      if (status !== 'was done') expect(code).toBe('storage-full')
    }
    expect(statuses).toContain(503)
    const listed = await client.request('GET /knowledge-spaces/{id}/documents', { path, query: {} })
    expect(listed.items).toHaveLength(1)
    const file = join(disk.home, 'cli.md')
    writeFileSync(file, 'words '.repeat(10_000))
    const ingested = await runKs(dataDir, ['ingest', file, '--space', 'full'])
    expect(ingested.code, ingested.stderr).toBe(8)

    disk.free()
    const after = await upload('after.md', 20_000)
    expect(after.items).toHaveLength(1)
    await until(async () => {
      const { items } = await client.request('GET /knowledge-spaces/{id}/documents', { path, query: {} })
      return items.length === 2 && items.every(({ parserStatus }) => parserStatus === 'parsed')
    }, 90_000)
  },
)

test.skipIf(!disk.isMounted)(
  'documents in compilation when the disk fills up are published once there is space',
  { timeout: 240_000 },
  async () => {
    if (daemon === undefined) throw new Error('no daemon')
    const { client, pid } = daemon
    const space = await client.request('POST /knowledge-spaces', { body: { name: 'Stuck', slug: 'stuck' } })
    const path = { id: space.id }
    const DOCUMENTS = 60
    const files = Array.from({ length: DOCUMENTS }, (_, n) => ({
      filename: `${n}.md`,
      mimeType: 'text/markdown',
      content: {
        bytes: Buffer.from(`# Note ${n}\n\n${`Sentence ${n} of a note that is being compiled. `.repeat(40)}`),
      },
    }))
    for (let from = 0; from < DOCUMENTS; from += 20)
      await client.upload('POST /knowledge-spaces/{id}/documents/bulk', {
        path,
        field: 'files',
        files: files.slice(from, from + 20),
      })
    disk.fill(0)
    // Long enough for a batch, and the write after its failure, to fail.
    const deadline = performance.now() + 8_000
    await until(async () => {
      await client.request('GET /health', {})
      return performance.now() > deadline
    })
    disk.free()
    await until(async () => {
      const { items } = await client.request('GET /knowledge-spaces/{id}/documents', { path, query: { limit: 100 } })
      return items.length === DOCUMENTS && items.every(({ parserStatus }) => parserStatus === 'parsed')
    })
    expect(daemon.pid).toBe(pid)
  },
)
