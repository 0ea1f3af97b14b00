import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, expect, test } from 'vitest'
import { removeFolder } from '../../bench/lib/removed-folder.js'
import { DiskReserve } from '../../src/local/disk-reserve.js'
import { ADA, startEngine, type TestEngine, uploadOne } from '../helpers/engine.js'
import { page, type Site, startSite } from '../helpers/site.js'
import { until } from '../helpers/until.js'

const HOUR = 3_600_000
const LONG_MS = 60_000
let home: TestEngine | undefined
let site: Site | undefined
const folder = mkdtempSync(join(tmpdir(), 'ks-room-'))

afterEach(async () => {
  await home?.end()
  await site?.end()
  removeFolder(folder)
})

test('a scheduled sync that failed on a full disk runs again as soon as there is space, not at its next time', {
  timeout: 2 * LONG_MS,
}, async () => {
  let now = Date.now()
  const room = new DiskReserve(join(folder, 'reserve'), tmpdir())
  home = await startEngine({ sources: { egressAllow: ['127.0.0.2'], tickMs: 20 }, now: () => now, diskReserve: room })
  const { sources, spaces, documents } = home.engine
  const spaceId = (await spaces.create(ADA, { name: 'Web', slug: 'web' })).id
  site = await startSite()
  site.pages.set('/', (_request, response) => {
    // The disk fills up during the read.
    room.release()
    response.setHeader('content-type', 'text/html').end(page('Start', 'Home of things that are read on time.'))
  })
  const metadata = { syncPolicy: { everyHours: 2 } }
  const body = { name: 'Site', type: 'web' as const, uri: `${site.url}/`, permissionScope: [], metadata }
  const { id } = await sources.create(ADA, spaceId, body)
  now += 2 * HOUR
  await until(async () => (await sources.get(ADA, spaceId, id)).status === 'error', LONG_MS)
  expect((await documents.list(ADA, spaceId, { limit: 10 })).items).toEqual([])
  site.pages.set('/', page('Start', 'Home of things that are read on time.'))
  now += 60_000
  expect(room.isFull).toBe(true)
  expect(await room.hasSpace()).toBe(true)
  await until(async () => (await documents.list(ADA, spaceId, { limit: 10 })).items.length === 1, LONG_MS)
  await until(async () => (await sources.get(ADA, spaceId, id)).status === 'active', LONG_MS)
})

test('an embedding model whose training fails leaves no rows', { timeout: 2 * LONG_MS }, async () => {
  const failures: unknown[] = []
  const log = { debug() {}, info() {}, error() {}, warn: (_: object, text: string) => failures.push(text) }
  home = await startEngine({ log })
  const { engine, dataDir } = home
  const rows = new Sqlite(join(dataDir, 'db', 'main.sqlite'))
  rows.exec(`CREATE TRIGGER no_room BEFORE INSERT ON vectors
    WHEN (SELECT state FROM vector_spaces WHERE key = NEW.vector_space) = 'building'
    BEGIN SELECT RAISE(ABORT, 'no room'); END`)
  const spaceId = (await engine.spaces.create(ADA, { name: 'Trained', slug: 'trained' })).id
  const words = ['lighthouse', 'harbour', 'ferry', 'tide', 'anchor', 'sail', 'compass', 'chart']
  for (let n = 0; n < 64; n++) {
    const [one, two] = [words[n % 8], words[Math.floor(n / 8)]]
    await uploadOne(engine, ADA, spaceId, {
      filename: `${n}.md`,
      text: `# The ${one} ${n}\n\nThe ${one} is near the ${two}.`,
    })
  }
  await until(() => failures.includes('training the embedding model failed'), LONG_MS)
  expect(rows.prepare('SELECT state FROM vector_spaces').all()).toEqual([])
  rows.close()
})
