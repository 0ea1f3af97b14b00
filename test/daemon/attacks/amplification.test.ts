import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openEngine } from '../../../src/engine/index.js'
import { bodyOf, startEdge, type TestEdge, temporaryDir } from '../../helpers/daemon.js'
import { ADA, engineOptions, ingest } from '../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../helpers/fake-openai.js'

const LLM_TOKENS = 20_000
const FILES = 1100
const HUGE = '1000000000'

const home = temporaryDir()
let edge: TestEdge
let model: FakeOpenAi
let space = ''
let documents: string[] = []
beforeAll(async () => {
  model = await startFakeOpenAi({ answer: () => 'The moon pulls the sea [1].' })
  const provider = { pluginId: 'openai-compatible', provider: 'fake', baseUrl: `${model.url}/v1` }
  const options = engineOptions(home.path, {
    quotas: { maxLlmTokensPerDay: LLM_TOKENS },
    providers: [provider],
    defaultGenerator: { pluginId: 'openai-compatible', provider: 'fake', model: 'm' },
  })
  edge = await startEdge({ engine: await openEngine(options) })
  space = (await edge.engine.spaces.create(ADA, { name: 'Notes', slug: 'notes' })).id
  for (let start = 0; start < FILES; start += 550) {
    const names = Array.from({ length: 550 }, (_, n) => `a/b/c/d/e/f/g/h/tide-${start + n}.md`)
    const files = names.map((name, n) => [name, `# Tide ${start + n}\n\nThe moon pulls the sea at Port ${start + n}.`])
    const accepted = await ingest(edge.engine, ADA, space, Object.fromEntries(files))
    documents = [...documents, ...accepted.map(({ asset }) => asset.id)]
  }
}, 180_000)
afterAll(async () => {
  await edge.engine.close()
  await edge.end()
  await model.close()
  home.remove()
})

const send = (method: string, path: string, json?: unknown) =>
  edge.send(method, path, { token: edge.tokens.ada, ...(json === undefined ? {} : { json }) })

describe('A78: expensive reads', () => {
  const at = () => `/knowledge-spaces/${space}`
  const folder = '/sources/uploads/a/b/c/d/e/f/g/h'

  test('return one list page of bounded size each, however large the requested limit', async () => {
    type Page = { items?: unknown[]; matches?: unknown[]; truncated: boolean; nextCursor?: string }
    const lists = [
      `/fs/ls?path=${folder}`,
      `/fs/find?path=${folder}&nameContains=tide`,
      `/fs/grep?path=${folder}&q=moon`,
    ]
    for (const path of lists) {
      const answer = await send('GET', `${at()}${path}&limit=${HUGE}`)
      expect(answer.status, path).toBe(200)
      const { items, matches, truncated, nextCursor } = await bodyOf<Page>(answer)
      expect((items ?? matches)?.length, path).toBeLessThanOrEqual(1000)
      expect([truncated, nextCursor === undefined], path).toEqual([true, false])
    }
    const tree = await send('GET', `${at()}/fs/tree?path=/knowledge&depth=8&limit=${HUGE}`)
    const text = await tree.text()
    expect(tree.status).toBe(200)
    expect(text.match(/"kind":/g)?.length).toBeLessThanOrEqual(1001)
    for (const path of ['/documents', '/sources', '/failed-queries', '/graph/entities'])
      expect((await send('GET', `${at()}${path}?limit=${HUGE}`)).status, path).toBe(400)
    for (const path of [
      `/fs/tree?path=/knowledge&limit=1&depth=9`,
      `/fs/find?path=/knowledge&limit=1&metadataKey=x&metadataValue=${'x'.repeat(4001)}`,
    ])
      expect((await send('GET', `${at()}${path}`)).status, path.slice(0, 40)).toBe(400)
  })

  test('repeated in a loop do not keep the daemon from answering other clients', async () => {
    const expensive = [
      `/fs/tree?path=/knowledge&depth=8&limit=${HUGE}`,
      `/fs/find?path=/knowledge&limit=1000&metadataKey=title&metadataValue=${'x'.repeat(4000)}`,
      `/fs/grep?path=/knowledge&limit=1000&q=${encodeURIComponent('re:(a|b|c|moon)+.*sea')}`,
      '/stats?windowMinutes=1440',
      '/fsck?check=references',
      '/graph/entities?limit=100',
    ]
    let running = expensive.length
    const lanes = Promise.all(
      expensive.map(async (path) => {
        for (let times = 0; times < 4; times++) {
          const answer = await send('GET', `${at()}${path}`)
          await answer.text()
          expect(answer.status, path).toBe(200)
        }
        running--
      }),
    )
    let replyCount = 0
    for (; running > 0; replyCount++) {
      expect((await edge.send('GET', '/health')).status).toBe(200)
      await sleep(20)
    }
    await lanes
    // A request may wait for a read, but not for all of them.
    expect(replyCount).toBeGreaterThan(5)
  }, 120_000)
})

describe('A80: expensive questions', () => {
  test('stay within the daily token budget; questions above the budget are answered without a model', async () => {
    const long = 'what does the moon do with the sea at the port '.repeat(400).slice(0, 16_000)
    const json = { knowledgeSpaceId: space, query: long, mode: 'deep', activeDocumentIds: documents.slice(0, 100) }
    expect((await send('POST', '/queries', { ...json, query: `${long}x` })).status).toBe(400)
    const many = [...json.activeDocumentIds, documents[100]]
    expect((await send('POST', '/queries', { ...json, activeDocumentIds: many })).status).toBe(400)
    let withoutModel = 0
    for (let n = 0; n < 24; n++) {
      const answer = await send('POST', '/queries', json)
      expect([200, 429]).toContain(answer.status)
      const text = await answer.text()
      if (text.includes('budget-spent')) withoutModel++
    }
    const task = await send('POST', '/research-tasks', { knowledgeSpaceId: space, query: 'tides', budgetUsd: 1e308 })
    expect([201, 400, 422]).toContain(task.status)
    // Counts words, as the fake provider does.
    const prompts = model.requests.map(({ body }) => (body.messages ?? []).map(({ content }) => content).join(''))
    expect(prompts.length).toBeGreaterThan(0)
    expect(prompts.reduce((sum, prompt) => sum + (prompt.match(/\S+/g) ?? []).length, 0)).toBeLessThanOrEqual(
      LLM_TOKENS,
    )
    expect(withoutModel).toBeGreaterThan(0)
  }, 120_000)
})
