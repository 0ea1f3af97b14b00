import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { type BenchDaemon, startDaemon, temporaryFolder } from '../../bench/lib/daemon.js'
import { fillSpace } from '../../bench/lib/upload.js'
import type { Client } from '../../src/client/client.js'
import { sql } from '../engine/upkeep/integrity/space.js'
import { crashSeed, seededRandom } from './random.js'

const KILLS = Number(process.env['KS_CRASH_ROUNDS'] ?? 5)
const FILES = 60
const DELETED = 6
/** Within this time the documents are read and the views are built. */
const WHOLE_MS = 1500

const home = temporaryFolder('crash-graph')
let daemon: BenchDaemon | undefined

afterAll(async () => {
  await daemon?.kill()
  home.remove()
})

const text = (place: number): string =>
  `# Note ${place}\n\nProject Falcon depends on the Harbour Rule. Project Falcon is seen from Place Number${place} every day.\n`

test(`a graph whose creation ${KILLS} kills interrupt has the entities of all documents, and none of deleted documents`, {
  timeout: (KILLS + 1) * 120_000,
}, async () => {
  const seed = crashSeed()
  const random = seededRandom(seed)
  daemon = await startDaemon(home.path)
  const files = Array.from({ length: FILES }, (_, place) => ({ filename: `n${place}.md`, text: text(place) }))
  const { spaceId, documents } = await fillSpace(daemon.client, 'falcon', files)
  let place = 0
  for (let round = 0; round < KILLS; round++) {
    const { client } = daemon
    const path = { id: spaceId }
    const going = Promise.allSettled([
      client.request('POST /knowledge-spaces/{id}/semantic-views/communities/materialize', { path, body: {} }),
      client.request('POST /knowledge-spaces/{id}/semantic-views/topic/materialize', { path, body: {} }),
      client.request('POST /knowledge-spaces/{id}/semantic-views/entities/extract', { path, body: { limit: 100 } }),
    ])
    const gone = Array.from({ length: DELETED }, () => documents.get(`n${place++}.md`) ?? '')
    await sleep(random() * WHOLE_MS)
    await client.request('DELETE /knowledge-spaces/{id}/documents/bulk', { path, body: { documentIds: gone } })
    await daemon.kill()
    await going
    daemon = await startDaemon(home.path)
    // Queries already show this.
    expect(await numbered(daemon.client, spaceId), `after kill ${round}, seed ${seed}`).toEqual(expected(place))
  }
  await purged(place)
  const stored = rows<{ key: string }>('SELECT canonical_key key FROM graph_entities').map(({ key }) => key)
  expect(stored.filter((key) => key.startsWith('place number')).sort()).toEqual(expected(place))
  process.stdout.write(`FIGURE crash-graph: kills ${KILLS}, entities lost 0, of deleted documents 0, seed ${seed}\n`)
})

function expected(from: number): string[] {
  return Array.from({ length: FILES - from }, (_, place) => `place number${from + place}`).sort()
}

async function numbered(client: Client, id: string): Promise<string[]> {
  const query = { limit: 100, query: 'place number' }
  // The first call may end before all documents are read again.
  for (;;) {
    const { items } = await client.request('GET /knowledge-spaces/{id}/graph/entities', { path: { id }, query })
    const { activity } = await client.request('GET /daemon/status', {})
    if (activity.backgroundTasks === 0) return items.map(({ canonicalKey }) => canonicalKey).sort()
    await sleep(100)
  }
}

function rows<Row>(statement: string): Row[] {
  let found: Row[] = []
  sql(home.path, (db) => {
    found = db.prepare<[], Row>(statement).all()
  })
  return found
}

/** Waits until the rows of the deleted documents are purged. */
async function purged(count: number): Promise<void> {
  for (;;) {
    if (rows('SELECT key FROM documents').length === FILES - count) return
    await sleep(100)
  }
}
