import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BenchDaemon, startDaemon, temporaryFolder } from '../../bench/lib/daemon.js'
import { fillSpace } from '../../bench/lib/upload.js'
import type { EmbeddingMigration } from '../../src/contract/gateway/embedding-migrations.js'
import { type FakeOpenAi, startFakeOpenAi } from '../helpers/fake-openai.js'
import { until } from '../helpers/until.js'
import { crashSeed, seededRandom } from './random.js'

/** kills of each kind */
const KILLS = Number(process.env['KS_CRASH_ROUNDS'] ?? 3)
const FILES = 120
const WAIT_MS = 60_000
/** time limit between a cancel request and its end */
const CANCEL_MS = 20
const BUILTIN = { pluginId: 'builtin', provider: 'lsa', model: 'lsa-200' }
const TOPICS = ['lighthouse', 'harbour', 'ferry', 'tide', 'anchor', 'sail', 'compass', 'chart', 'beacon', 'buoy']

const home = temporaryFolder('crash-embedding')
let fake: FakeOpenAi
let daemon: BenchDaemon
let spaceId: string
let documents: Map<string, string>
/** the model of the space after the published migrations */
let current: string = BUILTIN.model
let targets = 0

async function start(): Promise<void> {
  const provider = { pluginId: 'openai-compatible', provider: 'local', baseUrl: fake.url, timeoutMs: 3000, maxBatch: 4 }
  daemon = await startDaemon(home.path, { KS_DAEMON_PROVIDERS: JSON.stringify([provider]) })
}

beforeAll(async () => {
  fake = await startFakeOpenAi({ dimension: 16 })
  fake.always({ kind: 'slow', ms: 20 })
  await start()
  const files = Array.from({ length: FILES }, (_, place) => {
    const [one, two] = [TOPICS[place % 10], TOPICS[(place + Math.floor(place / 10)) % 10]]
    return {
      filename: `n${place}.md`,
      text: `# The ${one} ${place}\n\nThe ${one} stands beside the ${two} of the island.\n`,
    }
  })
  const filled = await fillSpace(daemon.client, 'moved', files)
  spaceId = filled.spaceId
  documents = filled.documents
  await settled()
}, 120_000)
afterAll(async () => {
  await daemon?.kill()
  await fake?.close()
  home.remove()
})

const seed = crashSeed()
const random = seededRandom(seed)

test('an embedding migration whose daemon is killed during training or filling completes after the restart', {
  timeout: 300_000,
}, async () => {
  const whole: Record<string, number> = {}
  for (const kind of ['provider', 'trained']) {
    const started = performance.now()
    await published(await begin())
    whole[kind] = performance.now() - started
  }
  let cut = 0
  for (let round = 0; round < KILLS * 2; round++) {
    const begun = await begin()
    const isTrained = begun.embeddingProfile.model === BUILTIN.model
    await sleep(random() * (whole[isTrained ? 'trained' : 'provider'] ?? 0))
    await daemon.kill()
    if (stored(begun.id) === 'filling') cut++
    await start()
    await served(`round ${round}, seed ${seed}`)
    await published(begun)
  }
  process.stdout.write(`FIGURE crash-embedding: kills ${KILLS * 2}, in the middle ${cut}, not ended 0, seed ${seed}\n`)
})

test('after a kill right after the switch of an embedding migration, searches use the new vectors', {
  timeout: 300_000,
}, async () => {
  let before = 0
  for (let round = 0; round < KILLS * 2; round++) {
    const begun = await begin()
    await switched(begun.id)
    process.kill(daemon.pid, 'SIGKILL')
    await daemon.kill()
    if (!hasToldIndex(begun.id)) before++
    await start()
    const now = await read(begun.id)
    expect(now.state, `round ${round}, seed ${seed}`).toBe('published')
    await served(`round ${round}, seed ${seed}`, begun.embeddingProfile.model)
    await published(begun)
  }
  process.stdout.write(
    `FIGURE crash-embedding-switch: kills ${KILLS * 2}, before the index was told ${before}, seed ${seed}\n`,
  )
})

test('an acknowledged cancel of an embedding migration survives a kill; without it the migration may also continue', {
  timeout: 300_000,
}, async () => {
  const ends: Record<string, number> = {}
  for (let round = 0; round < KILLS * 2; round++) {
    const begun = await begin()
    await sleep(random() * 60)
    let answer = 'none'
    const path = { id: spaceId, migrationId: begun.id }
    const canceling = daemon.client
      .request('DELETE /knowledge-spaces/{id}/embedding-profile/migrations/{migrationId}', { path })
      .then(
        ({ state }) => {
          answer = state
        },
        () => undefined,
      )
    await sleep(random() * CANCEL_MS)
    process.kill(daemon.pid, 'SIGKILL')
    await canceling
    await daemon.kill()
    const kept = stored(begun.id)
    ends[kept] = (ends[kept] ?? 0) + 1
    if (answer === 'canceled') expect(kept, `round ${round}, seed ${seed}`).toBe('canceled')
    await start()
    await served(`round ${round}, seed ${seed}`)
    if (kept === 'canceled') {
      expect(await read(begun.id)).toMatchObject({ state: 'canceled', embeddingProfile: begun.embeddingProfile })
      await settled()
    } else await published(begun)
  }
  process.stdout.write(`FIGURE crash-embedding-cancel: at the kill ${JSON.stringify(ends)}, seed ${seed}\n`)
})

/** Starts a migration to the other kind of model. */
async function begin(): Promise<EmbeddingMigration> {
  const body =
    current === BUILTIN.model
      ? { pluginId: 'openai-compatible', provider: 'local', model: `model-${++targets}` }
      : BUILTIN
  const path = { id: spaceId }
  return daemon.client.request('POST /knowledge-spaces/{id}/embedding-profile/migrations', { path, body })
}

function read(migrationId: string): Promise<EmbeddingMigration> {
  const path = { id: spaceId, migrationId }
  return daemon.client.request('GET /knowledge-spaces/{id}/embedding-profile/migrations/{migrationId}', { path })
}

async function published({ id, embeddingProfile }: EmbeddingMigration): Promise<void> {
  await until(async () => (await read(id)).state === 'published', WAIT_MS)
  expect(await read(id)).toMatchObject({ filled: FILES, total: FILES, refused: 0 })
  current = embeddingProfile.model
  await settled()
}

/** Waits until the space has exactly the vectors of its model, and each document is found by them. */
async function settled(): Promise<void> {
  const { embeddingProfile } = await daemon.client.request('GET /knowledge-spaces/{id}/manifest', {
    path: { id: spaceId },
  })
  expect(embeddingProfile?.model).toBe(current)
  const rows = `SELECT vector_spaces.state, spaces.vector_space = vector_spaces.id isOfSpace,
      (SELECT count(*) FROM vectors WHERE vector_space = vector_spaces.key) vectors
    FROM vector_spaces JOIN spaces ON spaces.key = space_key`
  const wanted = JSON.stringify([{ state: 'active', isOfSpace: 1, vectors: FILES }])
  await until(() => JSON.stringify(database((db) => db.prepare(rows).all())) === wanted, WAIT_MS)
  for (let place = 0; place < FILES; place += 11) await until(async () => await isFoundByVector(place), WAIT_MS)
}

async function isFoundByVector(place: number): Promise<boolean> {
  const body = {
    query: `the ${TOPICS[place % 10]} of the island`,
    documentId: documents.get(`n${place}.md`),
    mode: 'fast' as const,
  }
  const { stages } = await daemon.client.request('POST /knowledge-spaces/{id}/queries/explain', {
    path: { id: spaceId },
    body,
  })
  const leg = stages.find(({ stage }) => stage === 'vector-leg')
  // Its vector was also found, after the last candidate.
  return leg?.outcome === 'passed' || leg?.reason === 'beyond-limit'
}

/** The result of the first query after a start. */
async function served(when: string, model?: string): Promise<void> {
  const before = fake.requests.length
  const { items } = await daemon.client.request('POST /knowledge-spaces/{id}/queries/search', {
    path: { id: spaceId },
    body: { query: 'which ferry stands beside the beacon?' },
  })
  expect(items.length, when).toBeGreaterThan(0)
  if (model === undefined || model === BUILTIN.model) return
  expect(fake.requests.slice(before).map(({ body }) => body.model)).toContain(model)
}

/** Resolves as soon as the transaction of the switch is committed, before the daemon has notified its index. */
async function switched(migrationId: string): Promise<void> {
  const db = new Sqlite(join(home.path, 'db', 'main.sqlite'), { readonly: true })
  const state = db.prepare<[string], { state: string }>('SELECT state FROM embedding_migrations WHERE id = ?')
  const end = performance.now() + WAIT_MS
  try {
    while (state.get(migrationId)?.state !== 'published') {
      if (performance.now() > end) throw new Error('the switch did not come')
      await turn()
    }
  } finally {
    db.close()
  }
}

/** Checks the line that the daemon logs after it. */
function hasToldIndex(migrationId: string): boolean {
  return readFileSync(join(home.path, 'logs', 'daemon.log'), 'utf8')
    .split('\n')
    .some((line) => line.includes(migrationId) && line.includes('has moved to another embedding model'))
}

function stored(migrationId: string): string {
  const statement = 'SELECT state FROM embedding_migrations WHERE id = ?'
  return database((db) => db.prepare<[string], { state: string }>(statement).get(migrationId)?.state) ?? 'not there'
}

function database<T>(work: (db: Sqlite.Database) => T): T {
  const db = new Sqlite(join(home.path, 'db', 'main.sqlite'), { readonly: true })
  try {
    return work(db)
  } finally {
    db.close()
  }
}
