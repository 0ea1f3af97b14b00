import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { EvidenceBundle } from '../../../../src/contract/gateway/queries.js'
import { ADA, ask, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../../helpers/fake-openai.js'

const MODEL = { pluginId: 'openai-compatible', provider: 'local', model: 'some-model' }
const FILES = {
  'hours.md': '# Opening hours\n\nThe shop in Oslo opens at nine in the morning.\n',
  'prices.md': '# Prices\n\nA blue kettle costs forty crowns.\n',
}
/** A question that shares almost no word with the passage that answers it. */
const PARAPHRASE = 'From what hour may customers buy groceries in the town centre of Oslo today?'

const QUOTED = '[1] hours.md › Opening hours\n\nThe shop in Oslo opens at nine in the morning.'

let fake: FakeOpenAi
let test: TestEngine
let spaceId: string
let reply = ''

beforeAll(async () => {
  // One character per chunk: citation marks arrive in pieces.
  fake = await startFakeOpenAi({ answer: () => reply, deltaPattern: /[\s\S]/g })
  const { pluginId, provider } = MODEL
  test = await startEngine({ providers: [{ pluginId, provider, baseUrl: fake.url, timeoutMs: 5000 }] })
  spaceId = (await test.engine.spaces.create(ADA, { name: 'N', slug: 'n' })).id
  await ingest(test.engine, ADA, spaceId, FILES)
})
afterAll(async () => {
  await test.end()
  await fake.close()
})
beforeEach(() => {
  fake.requests.length = 0
  fake.clear()
})

const setModel = (model: object) =>
  test.engine.spaces.setRetrievalProfile(ADA, spaceId, {
    defaultMode: 'fast',
    modes: ['fast', 'deep', 'research'],
    topK: 10,
    scoreThreshold: 0,
    rerank: { enabled: true },
    ...model,
  })

async function asked(query: string) {
  const { answer, done } = await ask(test.engine, ADA, spaceId, query)
  const { evidenceBundle: bundle } = done.metadata as { evidenceBundle: EvidenceBundle }
  return {
    answer,
    bundle,
    finishReason: done.finishReason,
    decidedBy: done.metadata?.decidedBy,
    generator: done.metadata?.generator,
    context: done.metadata?.context,
  }
}

describe('a chat model that answers a query', () => {
  it('receives passages that share few words with the question, and its answer makes them answerable', async () => {
    await setModel({})
    const without = await asked(PARAPHRASE)
    expect(without.bundle.state).toBe('partial')
    expect(without.answer).toBe(
      'Closest passages:\n\n[1] hours.md › Opening hours\n\nThe shop in Oslo opens at nine in the morning.',
    )

    await setModel({ reasoningModel: MODEL })
    reply = 'From nine in the morning [1].'
    const { answer, bundle, finishReason } = await asked(PARAPHRASE)
    expect(JSON.stringify(fake.requests[0]?.body.messages)).toContain('opens at nine')
    expect([answer, bundle.state, finishReason]).toEqual([reply, 'answerable', 'retrieval-evidence'])
    expect(bundle.missingEvidence).toEqual([])
  })

  it.each([
    ['It opens at nine [1].', 'It opens at nine [1].', 'answerable', 'retrieval-evidence', 'model'],
    ['It opens at nine.', 'It opens at nine. [1]', 'answerable', 'retrieval-evidence', 'model'],
    ['It opens at nine [1][99].', 'It opens at nine [1].', 'answerable', 'retrieval-evidence', 'model'],
    ['It opens at ten [1].', QUOTED, 'answerable', 'retrieval-evidence', 'extractive'],
    ['The passages do not answer this [1].', QUOTED, 'answerable', 'retrieval-evidence', 'extractive'],
  ])('that writes %j leads to the answer %j', async (said, answer, state, finishReason, generator) => {
    await setModel({ reasoningModel: MODEL })
    reply = said
    const given = await asked('When does the shop in Oslo open?')
    expect([given.answer, given.bundle.state, given.finishReason]).toEqual([answer, state, finishReason])
    expect(given.generator).toBe(generator)
  })

  it.each([
    'The sources do not answer the question.',
    'The passages [1] do not say when.',
    'Das steht dort nicht [1].',
    '文中没有提到这一点。',
  ])('turns an unsure question into not-enough-evidence by declining: %s', async (said) => {
    await setModel({ reasoningModel: MODEL })
    reply = said
    const given = await asked(PARAPHRASE)
    expect([given.answer, given.bundle.state, given.finishReason]).toEqual([
      said.replace(' [1]', ''),
      'not-enough-evidence',
      'no-retrieval-evidence',
    ])
    expect(given.bundle.missingEvidence.map(({ reason }) => reason)).toEqual(['not-retrieved'])
  })

  it('appears as decidedBy in the metadata of the answer', async () => {
    await setModel({ reasoningModel: MODEL })
    reply = 'From nine in the morning [1].'
    expect((await asked(PARAPHRASE)).decidedBy).toBe('model')
    await setModel({})
    expect((await asked(PARAPHRASE)).decidedBy).toBe('rules')
  })

  it.each(['It opens at nine [1, 2].', 'It opens at nine 【1】.', 'It opens at nine [1-2].'])(
    'may cite passages in its own notation: %s',
    async (said) => {
      await setModel({ reasoningModel: MODEL })
      reply = said
      const { answer, bundle } = await asked('When does the shop in Oslo open, and what does a kettle cost?')
      expect(answer).toMatch(/^It opens at nine (?:\[1\]\[2\]|\[1\])\.$/)
      expect(bundle.state).toBe('answerable')
    },
  )

  it('gets a smaller prompt after it rejected the first one as too long', async () => {
    await setModel({ reasoningModel: MODEL })
    reply = 'From nine in the morning [1].'
    fake.script({ kind: 'status', status: 400, body: '{"error":{"code":"context_length_exceeded"}}' })
    const { answer, bundle, context } = await asked(PARAPHRASE)
    expect([answer, bundle.state]).toEqual([reply, 'answerable'])
    expect(context).toEqual({ contextTokens: 4096, passages: 1, cut: 0, leftOut: 0 })
    expect(fake.requests).toHaveLength(2)
  })

  it('that fails leaves an unsure question with the closest passages', async () => {
    await setModel({ reasoningModel: MODEL })
    fake.script({ kind: 'status', status: 401 })
    const { answer, bundle } = await asked(PARAPHRASE)
    expect(answer).toMatch(/^Closest passages:\n\n\[1\] .*\n\nThe shop in Oslo/)
    expect(bundle.state).toBe('partial')
  })
})
