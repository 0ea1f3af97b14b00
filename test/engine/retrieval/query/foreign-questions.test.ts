import { afterEach, beforeEach, expect, it } from 'vitest'
import type { EvidenceBundle } from '../../../../src/contract/gateway/queries.js'
import { ADA, ask, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { until } from '../../../helpers/until.js'

let test: TestEngine
let spaceId: string

const MANUAL = {
  'typography.md': '# Typography\n\nHeadings are set in capital letters. A table that is wide is turned.',
  'columns.md': '# Columns\n\nA column has a base, a shaft and a capital. That capital carries the beam above it.',
  'storage.md':
    '# Storage\n\nTraces are kept for 90 days. The log is synced by a thread of its own before an answer ends.',
  '水泵.md': '# 水泵\n\n水泵每三个月检查一次，由值班工程师负责。备用水泵放在二号仓库。',
}

beforeEach(async () => {
  test = await startEngine()
  spaceId = (await test.engine.spaces.create(ADA, { name: 'Manual', slug: 'manual' })).id
  await ingest(test.engine, ADA, spaceId, MANUAL)
})
afterEach(() => test.end())

const askSpace = async (query: string): Promise<{ state: string; finish: unknown; answer: string }> => {
  const { answer, done } = await ask(test.engine, ADA, spaceId, query)
  const { state } = (done.metadata as { evidenceBundle: EvidenceBundle }).evidenceBundle
  return { state, finish: done.finishReason, answer }
}

it('an unanswered question in a small space gets its search terms as answer and is captured as failed', async () => {
  const foreign = [
    ['What is the capital of Norway?', 'capital Norway'],
    ['Who was the first king of Portugal?', 'first king Portugal'],
    ['挪威的首都是哪座城市？', '挪威的首都是 座城市'],
  ] as const
  for (const [query, searched] of foreign)
    expect(await askSpace(query)).toMatchObject({
      state: 'not-enough-evidence',
      finish: 'no-retrieval-evidence',
      answer: `Nothing was found for “${searched}”.`,
    })
  await until(async () => (await captured()).length === foreign.length)
  expect(new Set(await captured())).toEqual(new Set(['no-retrieval-evidence']))
})

it('a question that a small space answers is answerable, in English and in Chinese', async () => {
  expect(await askSpace('How long are traces kept?')).toMatchObject({
    state: 'answerable',
    finish: 'retrieval-evidence',
  })
  expect(await askSpace('What does the capital of a column carry?')).toMatchObject({ state: 'answerable' })
  expect((await askSpace('水泵多久检查一次？')).answer).toContain('每三个月检查一次')
  expect(await askSpace('水泵多久检查一次？')).toMatchObject({ state: 'answerable' })
})

async function captured(): Promise<string[]> {
  const { items } = await test.engine.quality.failed.list(ADA, spaceId, { limit: 100 })
  return items.map(({ trigger }) => trigger)
}
