import { afterAll, beforeAll, expect, test } from 'vitest'
import { ADA, ask, ingest, startEngine, type TestEngine } from '../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../helpers/fake-openai.js'
import { until } from '../../helpers/until.js'

const PROVIDER = { pluginId: 'openai-compatible', provider: 'local' }

let fake: FakeOpenAi
let running: TestEngine

beforeAll(async () => {
  fake = await startFakeOpenAi({ answer: () => 'At nine [1].' })
  const provider = { ...PROVIDER, baseUrl: fake.url, apiKey: 'CANARY', contextTokens: { writer: 16_384 } }
  running = await startEngine({
    providers: [provider],
    quotas: { maxLlmTokensPerDay: 5000 },
    defaultGenerator: { ...PROVIDER, model: 'writer' },
  })
})
afterAll(async () => {
  await running.end()
  await fake.close()
})

test('the models in use are listed with calls, tokens and budgets of spaces, and without their key', async () => {
  const { engine } = running
  const { id } = await engine.spaces.create(ADA, { name: 'Shop', slug: 'shop' })
  await ingest(engine, ADA, id, { 'hours.md': '# Hours\n\nThe shop in Oslo opens at nine.\n' })
  await ask(engine, ADA, id, 'When does the shop in Oslo open?')
  fake.script({ kind: 'status', status: 401 })
  await ask(engine, ADA, id, 'When does the shop in Oslo open?')
  await until(async () => (await engine.models.inUse()).budgets.length > 0)
  const { today, budgets, providers, defaults } = await engine.models.inUse()
  const [circuit] = providers[0]?.circuits ?? []
  expect(circuit).toMatchObject({ kind: 'generation', model: 'writer', state: 'closed', calls: 2, failed: 1 })
  expect(defaults).toEqual([
    { task: 'answers', ...PROVIDER, model: 'writer' },
    { task: 'embedding', pluginId: 'builtin', provider: 'lsa', model: 'lsa-200' },
  ])
  const tokens = (circuit?.inputTokens ?? 0) + (circuit?.outputTokens ?? 0)
  expect(tokens).toBeGreaterThan(50)
  await until(async () => (await engine.models.inUse()).today.llmTokens === tokens)
  expect(today).toMatchObject({ embeddingTokens: 0, rerankRequests: 0 })
  expect(budgets).toMatchObject([{ knowledgeSpaceId: id, slug: 'shop', counter: 'llmTokens', limit: 5000 }])
  expect(providers).toMatchObject([{ ...PROVIDER, credential: 'set', contextTokens: { writer: 16_384 } }])
  expect(JSON.stringify(engine.models.inUse())).not.toContain('CANARY')
})
