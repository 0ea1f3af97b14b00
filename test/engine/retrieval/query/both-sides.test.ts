import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { EvidenceBundle } from '../../../../src/contract/gateway/queries.js'
import { ADA, ask, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../../helpers/fake-openai.js'

const MODEL = { pluginId: 'openai-compatible', provider: 'local', model: 'some-model' }
const QUESTION = 'How long are the harbour recordings kept?'

let fake: FakeOpenAi
let test: TestEngine
let spaceId: string
let verdict = ''

beforeAll(async () => {
  fake = await startFakeOpenAi({
    answer: (asked) => (JSON.stringify(asked).includes('both can be true') ? verdict : 'Both [1] [2].'),
  })
  test = await startEngine({
    providers: [{ pluginId: MODEL.pluginId, provider: MODEL.provider, baseUrl: fake.url, timeoutMs: 5000 }],
  })
  spaceId = (await test.engine.spaces.create(ADA, { name: 'N', slug: 'n' })).id
  await ingest(test.engine, ADA, spaceId, {
    'policy.md': '# Policy\n\nThe harbour recordings are kept for 30 days.\n',
    'handbook.md': '# Handbook\n\nThe harbour recordings are kept for 90 days.\n',
  })
})
afterAll(async () => {
  await test.end()
  await fake.close()
})
beforeEach(() => fake.clear())

async function asked(model: object) {
  await test.engine.spaces.setRetrievalProfile(ADA, spaceId, {
    defaultMode: 'fast',
    modes: ['fast'],
    topK: 10,
    scoreThreshold: 0,
    rerank: { enabled: true },
    ...model,
  })
  const { answer, done } = await ask(test.engine, ADA, spaceId, QUESTION)
  const { evidenceBundle: bundle } = done.metadata as { evidenceBundle: EvidenceBundle }
  return { answer, bundle }
}

describe('an answer from contradicting documents', () => {
  it('quotes each document with its filename, and without a date if it has none', async () => {
    const { answer, bundle } = await asked({})
    expect(bundle.state).toBe('conflict')
    expect(answer).toMatch(/^The documents contradict each other\.\n/)
    expect(answer).toMatch(/- policy\.md: The harbour recordings are kept for 30 days\. \[\d\]/)
    expect(answer).toMatch(/- handbook\.md: The harbour recordings are kept for 90 days\. \[\d\]/)
  })

  it('becomes answerable if the model finds, asked only once, that both documents can be true', async () => {
    verdict = 'no idea'
    const unclear = await asked({ reasoningModel: MODEL })
    expect(unclear.bundle.state).toBe('conflict')
    expect(JSON.stringify(fake.requests.at(-1)?.body.messages)).toContain('contradict each other: ')

    verdict = '["compatible"]'
    const settled = await asked({ reasoningModel: MODEL })
    expect(settled.bundle.state).toBe('answerable')
    expect(settled.bundle.items.flatMap(({ conflicts }) => conflicts)).toEqual([])

    const before = fake.requests.length
    verdict = 'not asked again'
    expect((await asked({ reasoningModel: MODEL })).bundle.state).toBe('answerable')
    expect(fake.requests.length - before).toBe(1)
  })
})

describe('an answer from two documents with different dates', () => {
  const FILES = {
    'prices.md': '---\ndate: 2022-03-01\n---\n# Handbook: prices\n\nA lantern costs 9 euros.\n',
    'list.txt': 'Price list\nStand: 15.09.2024\n\nA lantern costs 12 euros.\n',
  }
  const about = async (question: string) => {
    const { answer, done } = await ask(test.engine, ADA, dated, question)
    const { evidenceBundle: bundle } = done.metadata as { evidenceBundle: EvidenceBundle }
    return {
      answer,
      state: bundle.state,
      days: bundle.items.map(({ metadata }) => String(metadata.documentDate)).sort(),
    }
  }
  let dated: string
  beforeAll(async () => {
    dated = (await test.engine.spaces.create(ADA, { name: 'Dated', slug: 'dated' })).id
    await ingest(test.engine, ADA, dated, FILES)
  })

  it('quotes the newer document first and is answerable', async () => {
    const { answer, state, days } = await about('What does a lantern cost?')
    expect(days).toEqual(['2022-03-01T00:00:00.000Z', '2024-09-15T00:00:00.000Z'])
    expect(state).toBe('answerable')
    expect(answer).toMatch(
      /^\[\d\] list\.txt.*, 2024-09-15\n\n.*A lantern costs 12 euros\.\n\nolder: \[\d\] prices\.md.*, 2022-03-01\n\nA lantern costs 9 euros\.$/s,
    )
  })

  it('quotes the document of the year in the question first', async () => {
    expect((await about('What did a lantern cost in 2022?')).answer).toMatch(
      /^\[\d\] prices\.md.*, 2022-03-01\n\nA lantern costs 9 euros\.\n\nnewer: \[\d\] list\.txt/,
    )
  })
})
