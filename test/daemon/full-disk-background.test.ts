import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type BenchDaemon, startDaemon } from '../../bench/lib/daemon.js'
import { removeFolder } from '../../bench/lib/removed-folder.js'
import { fillSpace, waitUntilIdle } from '../../bench/lib/upload.js'
import { page, type Site, startSite } from '../helpers/site.js'
import { mountSmallDisk } from '../helpers/small-disk.js'
import { until } from '../helpers/until.js'

const GOES_ON_MS = 60_000
const FILES = 60
/** enough new documents for another training */
const MORE = 20
const TOPICS = ['lighthouse', 'harbour', 'ferry', 'tide', 'anchor', 'sail', 'compass', 'chart', 'beacon', 'buoy']
const QUESTION = { query: 'which ferry stands beside the lighthouse?' }

const disk = mountSmallDisk('full-disk-background', 64)
let daemon: BenchDaemon
let site: Site | undefined

beforeAll(async () => {
  if (!disk.isMounted) return
  site = await startSite()
  daemon = await startDaemon(disk.path, { KS_DAEMON_EGRESS_ALLOW: '127.0.0.2' })
}, 120_000)
afterEach(() => disk.free())
afterAll(async () => {
  await daemon?.kill()
  await site?.end()
  disk.remove()
})

const notes = (of: string) =>
  Array.from({ length: FILES }, (_, place) => {
    const [one, two] = [TOPICS[place % 10], TOPICS[(place + Math.floor(place / 10)) % 10]]
    return {
      filename: `${of}${place}.md`,
      text: `# The ${one} ${place} of ${of}\n\nThe ${one} stands beside the ${two}.\n`,
    }
  })

/** Reads of a space while nothing can be written. */
async function reads(id: string, count: number): Promise<void> {
  const path = { id }
  const listed = await daemon.client.request('GET /knowledge-spaces/{id}/documents', { path, query: { limit: 100 } })
  expect(listed.items).toHaveLength(count)
  await daemon.client.request('GET /knowledge-spaces/{id}/manifest', { path })
}

const search = (id: string) =>
  daemon.client.request('POST /knowledge-spaces/{id}/queries/search', { path: { id }, body: QUESTION })

/** The vector stage of a search for a document. */
const byVector = async (id: string, documentId: string | undefined) => {
  const { stages } = await daemon.client.request('POST /knowledge-spaces/{id}/queries/explain', {
    path: { id },
    body: { ...QUESTION, documentId, mode: 'fast' },
  })
  return stages.find(({ stage }) => stage === 'vector-leg')
}

test.skipIf(!disk.isMounted)(
  'a training of the embedding model that failed on a full disk runs after space is freed',
  { timeout: 240_000 },
  async () => {
    const { pid } = daemon
    const { spaceId } = await fillSpace(daemon.client, 'trained', notes('a'))
    await until(() => trainedNodes(spaceId) >= FILES, GOES_ON_MS)
    const more = notes('more').slice(0, MORE)
    await daemon.client.upload('POST /knowledge-spaces/{id}/documents/bulk', {
      path: { id: spaceId },
      field: 'files',
      files: more.map(({ filename, text }) => ({
        filename,
        mimeType: 'text/markdown',
        content: { bytes: Buffer.from(text) },
      })),
    })
    await waitUntilIdle(daemon.client)
    disk.fill(0)
    await exhaustLog()
    // Training starts some seconds after the last document, and the log has no space to report it.
    const deadline = performance.now() + 6_000
    await until(async () => {
      await reads(spaceId, FILES + MORE)
      return performance.now() > deadline
    }, GOES_ON_MS)
    expect(trainedNodes(spaceId)).toBeLessThan(FILES + MORE)
    expect((await search(spaceId)).items.length).toBeGreaterThan(0)
    disk.free()
    await until(() => trainedNodes(spaceId) >= FILES + MORE, GOES_ON_MS)
    expect(daemon.pid).toBe(pid)
  },
)

test.skipIf(!disk.isMounted)(
  'indexes that were lost while the disk was full are rebuilt after space is freed',
  { timeout: 240_000 },
  async () => {
    const filled = await fillSpace(daemon.client, 'indexed', notes('b'))
    const { spaceId } = filled
    const document = filled.documents.get('b2.md')
    await until(async () => (await byVector(spaceId, document))?.outcome === 'passed', GOES_ON_MS)
    const { processes } = await daemon.client.request('GET /daemon/status', {})
    const index = processes?.find(({ role }) => role === 'index')
    expect(index).toBeDefined()
    removeFolder(join(disk.path, 'indexes'))
    disk.fill(0)
    process.kill(Number(index?.pid), 'SIGKILL')
    await until(async () => {
      await reads(spaceId, FILES)
      const now = (await daemon.client.request('GET /daemon/status', {})).processes
      return now?.some(({ role, pid }) => role === 'index' && pid !== index?.pid) === true
    }, GOES_ON_MS)
    for (let round = 0; round < 10; round++) {
      await reads(spaceId, FILES)
      // The result depends on what fitted into the last bytes.
      const found = await search(spaceId).then(
        () => 'found',
        (error: { code?: unknown }) => error.code,
      )
      expect(['found', 'storage-full', 'unavailable']).toContain(found)
    }
    disk.free()
    await until(async () => {
      const { items, degradedReasons } = await search(spaceId)
      return items.length > 0 && degradedReasons.length === 0
    }, GOES_ON_MS)
    await until(async () => (await byVector(spaceId, document))?.outcome === 'passed', GOES_ON_MS)
  },
)

test.skipIf(!disk.isMounted)(
  'a crawl on a full disk reports storage-full, and works after space is freed',
  { timeout: 240_000 },
  async () => {
    if (site === undefined) throw new Error('no site')
    const names = Array.from({ length: 12 }, (_, n) => `/docs/p${n}.html`)
    site.pages.set('/docs/', page('Start', 'The start of the pages.', names))
    for (const [n, name] of names.entries())
      site.pages.set(name, page(`Page ${n}`, `Tide table number ${n}. `.repeat(2_000)))
    const { id } = await daemon.client.request('POST /knowledge-spaces', { body: { name: 'Web', slug: 'web' } })
    const source = await daemon.client.request('POST /knowledge-spaces/{id}/sources', {
      path: { id },
      body: { name: 'Site', type: 'web', uri: `${site.url}/docs/`, permissionScope: [], metadata: {} },
    })
    const path = { id, sourceId: source.id }
    const crawl = () => daemon.client.request('POST /knowledge-spaces/{id}/sources/{sourceId}/crawl', { path })
    for (const leave of [300_000, 0]) {
      disk.fill(leave)
      const refused = await crawl().then(
        ({ status }) => ({ status, code: 'none' }),
        (error: { status?: unknown; code?: unknown }) => ({ status: error.status, code: error.code }),
      )
      expect(refused).toEqual({ status: 503, code: 'storage-full' })
      await daemon.client.request('GET /knowledge-spaces/{id}/sources/{sourceId}', { path })
    }
    disk.free()
    // The disk fills up during the crawl: not even the end of the crawl can be written.
    site.pages.set('/docs/p0.html', (_request, response) => {
      disk.fill(0)
      const answer = () => {
        response.setHeader('content-type', 'text/html')
        response.end(page('Page 0', 'Tide table number 0. '.repeat(2_000)))
      }
      exhaustLog().then(answer, answer)
    })
    await expect(crawl()).rejects.toMatchObject({ status: 503, code: 'storage-full' })
    site.pages.set('/docs/p0.html', page('Page 0', 'Tide table number 0. '.repeat(2_000)))
    disk.free()
    const stateOf = () => daemon.client.request('GET /knowledge-spaces/{id}/sources/{sourceId}', { path })
    await until(async () => (await stateOf()).status === 'error', GOES_ON_MS)
    const read = await crawl()
    expect(read).toMatchObject({ total: 13, failed: 0 })
    await until(async () => {
      const { items } = await daemon.client.request('GET /knowledge-spaces/{id}/documents', {
        path: { id },
        query: { limit: 100 },
      })
      return items.length === 13 && items.every(({ parserStatus }) => parserStatus === 'parsed')
    }, GOES_ON_MS)
  },
)

let made = 0

/** Writes rows until the log of the database is full, too. */
async function exhaustLog(): Promise<void> {
  let full = false
  for (let n = 0; n < 1_000 && !full; n++) {
    const body = { name: `More ${n}`, slug: `more-${++made}`, description: 'd'.repeat(1_900) }
    full = await daemon.client.request('POST /knowledge-spaces', { body }).then(
      () => false,
      (error: { code?: unknown }) => error.code === 'storage-full',
    )
  }
  expect(full).toBe(true)
}

/** The number of passages that the current model was trained on. */
function trainedNodes(spaceId: string): number {
  const statement = `SELECT trained_nodes n FROM vector_spaces JOIN spaces ON spaces.vector_space = vector_spaces.id
    WHERE spaces.id = ?`
  const db = new Sqlite(join(disk.path, 'db', 'main.sqlite'), { readonly: true })
  try {
    return db.prepare<[string], { n: number }>(statement).get(spaceId)?.n ?? 0
  } finally {
    db.close()
  }
}
