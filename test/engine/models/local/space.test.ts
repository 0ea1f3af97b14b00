import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ADA, ask, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { installPulledModel } from '../../../helpers/fake-llama.js'

let test: TestEngine
let spaceId: string

beforeAll(async () => {
  test = await startEngine()
  const model = installPulledModel(join(test.dataDir, 'models'), 'embedding')
  const embeddingProfile = { pluginId: 'local', provider: 'llama', model }
  spaceId = (await test.engine.spaces.create(ADA, { name: 'Local', slug: 'local', embeddingProfile })).id
  await ingest(test.engine, ADA, spaceId, {
    'pay.md': '# Salary\n\nSalaries are paid on the last working day of each month.',
  })
})
afterAll(() => test.end())

it('embeds passages and questions with a pulled model that the space names', async () => {
  const { done } = await ask(test.engine, ADA, spaceId, 'On which day are salaries paid?')
  expect(done).toMatchObject({ metadata: { degraded: false } })
  const [used] = test.engine.models.records()
  expect(used).toMatchObject({ provider: 'llama', kind: 'embedding', failed: 0 })
  expect(used?.calls).toBeGreaterThan(1)
})

it('answers from text search, marked as degraded, when the process of the local embedding model dies', async () => {
  const { done, answer } = await ask(test.engine, ADA, spaceId, 'On which day are salaries paid? DIE')
  expect(answer).toContain('last working day')
  expect(done.metadata).toMatchObject({
    degraded: true,
    degradedReasons: [expect.stringContaining('provider "llama" could not be reached: its process ended')],
  })
})
