import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BenchDaemon, startDaemon, temporaryFolder } from '../../bench/lib/daemon.js'
import { type NotionServer, startNotion } from '../helpers/places/notion.js'
import type { RemoteServer } from '../helpers/places/place.js'
import { startS3 } from '../helpers/places/s3.js'
import { crashSeed, seededRandom } from './random.js'

const ROUNDS = Number(process.env['KS_CRASH_ROUNDS'] ?? 4)
const ITEMS = 40
const ENV = { KS_DAEMON_EGRESS_ALLOW: '127.0.0.2' }

const home = temporaryFolder('import')
const seed = crashSeed()
const random = seededRandom(seed)
let daemon: BenchDaemon | undefined
let s3: RemoteServer
let notion: NotionServer

beforeAll(async () => {
  s3 = await startS3()
  notion = await startNotion()
})
afterAll(async () => {
  await daemon?.kill()
  await Promise.all([s3.end(), notion.end()])
  home.remove()
})

const nameOf = (n: number) => `note-${n}.md`

interface Sources {
  id: string
  drive: string
  pages: string
}

/** Imports everything from both sources; resolves when both have answered. */
async function importAll({ client }: BenchDaemon, { id, drive, pages }: Sources) {
  const files = Array.from({ length: ITEMS }, (_, n) => ({ id: `notes/${nameOf(n)}`, name: nameOf(n) }))
  const asked = await client.request('GET /knowledge-spaces/{id}/sources/{sourceId}/pages', {
    path: { id, sourceId: pages },
  })
  const list = asked.workspaces.flatMap(({ workspaceId = '', pages: found }) =>
    found.map(({ pageId, type, lastEditedTime = '' }) => ({ pageId, type, lastEditedTime, workspaceId })),
  )
  return await Promise.all([
    client.request('POST /knowledge-spaces/{id}/sources/{sourceId}/import-files', {
      path: { id, sourceId: drive },
      body: { files },
    }),
    client.request('POST /knowledge-spaces/{id}/sources/{sourceId}/import', {
      path: { id, sourceId: pages },
      body: { pages: list },
    }),
  ])
}

test(`an import from sources that ${ROUNDS} kills interrupt is complete once repeated, without duplicates or old text`, {
  timeout: (ROUNDS + 1) * 120_000,
}, async () => {
  process.stdout.write(`crash seed ${seed} (KS_CRASH_SEED=${seed} repeats the moments)\n`)
  daemon = await startDaemon(home.path, ENV)
  const { id } = await daemon.client.request('POST /knowledge-spaces', { body: { name: 'Remote', slug: 'remote' } })
  const add = async ({ type, uri, metadata }: RemoteServer, running: BenchDaemon) => {
    const body = { name: type, type, uri, metadata, permissionScope: [] }
    return (await running.client.request('POST /knowledge-spaces/{id}/sources', { path: { id }, body })).id
  }
  const sources = { id, drive: await add(s3, daemon), pages: await add(notion, daemon) }
  let whole = 0
  let cut = 0
  for (let round = 0; round < ROUNDS; round++) {
    for (let n = 0; n < ITEMS; n++) {
      const text = `# Note ${n}\n\nRound ${round} of note ${n}.`
      await Promise.all([s3.put(nameOf(n), text), notion.put(nameOf(n), `Round ${round} of note ${n}.`)])
      // Every other page gets a new title each time.
      notion.pages.get(nameOf(n))!.title = n % 2 === 0 ? `Note ${n}` : `Note ${n} of round ${round}`
    }
    const started = performance.now()
    const running = importAll(daemon, sources).then(
      () => 'answered',
      () => 'cut off',
    )
    await Promise.race([running, sleep(whole === 0 ? 300 + random() * 700 : random() * whole)])
    await daemon.kill()
    if ((await running) === 'cut off') cut++
    daemon = await startDaemon(home.path, ENV)
    const [files, pages] = await importAll(daemon, sources)
    whole ||= performance.now() - started
    expect(files).toMatchObject({ failed: [], skipped: [] })
    expect(files.documents).toHaveLength(ITEMS)
    expect(pages.failed).toEqual([])
    expect(pages.documents.length + pages.skipped.length).toBe(ITEMS)
    await expectWhole(daemon, sources, round)
  }
  process.stdout.write(`FIGURE crash-import: rounds ${ROUNDS}, cut off ${cut}, doubles 0, old 0, seed ${seed}\n`)
})

async function expectWhole({ client }: BenchDaemon, { id, drive, pages }: Sources, round: number): Promise<void> {
  const documents: {
    id: string
    version: number
    parserStatus: string
    sourceId?: string | undefined
    metadata: Record<string, unknown>
  }[] = []
  let cursor: string | undefined
  do {
    const query = { limit: 100, ...(cursor === undefined ? {} : { cursor }) }
    const found = await client.request('GET /knowledge-spaces/{id}/documents', { path: { id }, query })
    documents.push(...found.items)
    cursor = found.nextCursor
  } while (cursor !== undefined)
  for (const source of [drive, pages]) {
    const own = documents.filter(({ sourceId }) => sourceId === source)
    expect(own.filter(({ parserStatus }) => parserStatus !== 'parsed')).toEqual([])
    const items = own.map(({ metadata }) => metadata['fileId'] ?? metadata['pageId'])
    expect(new Set(items).size).toBe(ITEMS)
    expect(items).toHaveLength(ITEMS)
    for (const { id: documentId, version } of own) {
      const artifact = await client.request(
        'GET /knowledge-spaces/{id}/documents/{documentId}/parse-artifacts/{version}',
        {
          path: { id, documentId, version: String(version) },
        },
      )
      expect(JSON.stringify(artifact.elements)).toContain(`Round ${round} of`)
    }
  }
}
