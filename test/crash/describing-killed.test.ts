import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BenchDaemon, startDaemon, temporaryFolder } from '../../bench/lib/daemon.js'
import { picture } from '../engine/readers/picture.js'
import { rowsOf } from '../helpers/databases.js'
import { type FakeOpenAi, startFakeOpenAi } from '../helpers/fake-openai.js'
import { until } from '../helpers/until.js'

const PICTURES = 14
const KILLS = 3
/** pictures of one document that a model gets at once: a kill may waste these calls */
const AT_ONCE = 2
const WAIT_MS = 180_000

const home = temporaryFolder('describing')
const rows = rowsOf(home.path)
let fake: FakeOpenAi
let daemon: BenchDaemon | undefined

async function start(): Promise<BenchDaemon> {
  const provider = { pluginId: 'openai-compatible', provider: 'eyes', baseUrl: `${fake.url}/v1` }
  return await startDaemon(home.path, {
    KS_DAEMON_PROVIDERS: JSON.stringify([provider]),
    KS_DAEMON_VISION_MODEL: 'openai-compatible/eyes/seer',
  })
}

beforeAll(async () => {
  fake = await startFakeOpenAi({ answer: () => 'A drawing of the harbour of Port Ellery with herring boats.' })
  fake.always({ kind: 'slow', ms: 400 })
})
afterAll(async () => {
  await daemon?.kill()
  await fake.close()
  home.remove()
})

test(`${KILLS} kills repeat only those picture descriptions that were in progress`, {
  timeout: 4 * WAIT_MS,
}, async () => {
  daemon = await start()
  const { id } = await daemon.client.request('POST /knowledge-spaces', { body: { name: 'Boats', slug: 'boats' } })
  const shown = Array.from({ length: PICTURES }, (_, n) => picture(320, 240, n + 2).toString('base64'))
  const page = shown.map(
    (bytes, n) => `<h2>Quay ${n}</h2><p>Words of it.</p><img src="data:image/png;base64,${bytes}">`,
  )
  await daemon.client.upload('POST /knowledge-spaces/{id}/documents', {
    path: { id },
    field: 'file',
    files: [{ filename: 'a.html', mimeType: 'text/html', content: { bytes: Buffer.from(page.join('')) } }],
  })
  const kept = () => rows.value('SELECT count(*) FROM picture_descriptions WHERE said IS NOT NULL')
  for (let kill = 0; kill < KILLS; kill++) {
    const before = kept()
    await until(() => kept() > before, WAIT_MS)
    await daemon.kill()
    expect(kept()).toBeLessThan(PICTURES)
    daemon = await start()
  }
  await until(() => kept() === PICTURES, WAIT_MS)
  const { client } = daemon
  const described = async (): Promise<number> => {
    const { items } = await client.request('GET /knowledge-spaces/{id}/documents', { path: { id } })
    const found = await client.request('GET /knowledge-spaces/{id}/documents/{documentId}/multimodal', {
      path: { id, documentId: items[0]?.id ?? '' },
    })
    return found.items.filter(({ sourceMetadata }) => typeof sourceMetadata.description === 'string').length
  }
  await until(async () => (await described()) === PICTURES, WAIT_MS)
  const asked = fake.requests.filter(({ path }) => path.endsWith('/chat/completions')).length
  expect(asked).toBeGreaterThanOrEqual(PICTURES)
  expect(asked).toBeLessThanOrEqual(PICTURES + KILLS * AT_ONCE)
  await daemon.kill()
})
