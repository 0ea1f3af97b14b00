import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { EvidenceBundle } from '../../../src/contract/gateway/queries.js'
import { markReader, stateByMark } from '../../../src/engine/query/answer-mark.js'
import { ADA, ask, ingest, startEngine, type TestEngine } from '../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../helpers/fake-openai.js'

const MODEL = { pluginId: 'openai-compatible', provider: 'local', model: 'some-model' }
const FILES = {
  'hours.md': '# Opening hours\n\nThe shop in Oslo opens at nine in the morning.\n',
  'prices.md': '# Prices\n\nA blue kettle costs forty crowns.\n',
}
/** Its words have next to nothing in common with the passage that answers it. */
const PARAPHRASE = 'From what hour may customers buy groceries in the town centre of Oslo today?'

let fake: FakeOpenAi
let test: TestEngine
let spaceId: string
let reply = ''

beforeAll(async () => {
  // a character at a time: a mark comes in pieces
  fake = await startFakeOpenAi({ answer: () => reply, pieces: /[\s\S]/g })
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
    context: done.metadata?.context,
  }
}

describe('a model that a query is answered by', () => {
  it('is given what was found although its words are not those of the question, and its answer counts', async () => {
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
    ['[none] The passages do not say.', 'The passages do not say.', 'not-enough-evidence', 'no-retrieval-evidence'],
    ['[part] It opens at nine [1].', 'It opens at nine [1].', 'partial', 'retrieval-evidence'],
    ['It opens at nine [1].', 'It opens at nine [1].', 'answerable', 'retrieval-evidence'],
    ['It opens at nine.', 'It opens at nine.', 'partial', 'retrieval-evidence'],
    [
      'The passages do not answer this.',
      'The passages do not answer this.',
      'not-enough-evidence',
      'no-retrieval-evidence',
    ],
    ['Das steht dort nicht.', 'Das steht dort nicht.', 'not-enough-evidence', 'no-retrieval-evidence'],
  ])('decides by %j, of which nobody sees the mark', async (said, answer, state, finishReason) => {
    await setModel({ reasoningModel: MODEL })
    reply = said
    const given = await asked('When does the shop in Oslo open?')
    expect([given.answer, given.bundle.state, given.finishReason]).toEqual([answer, state, finishReason])
    const reasons = given.bundle.missingEvidence.map(({ reason }) => reason)
    expect(reasons).toEqual(state === 'answerable' ? [] : ['not-retrieved'])
  })

  it('says so in what is told of the answer', async () => {
    await setModel({ reasoningModel: MODEL })
    reply = 'From nine in the morning [1].'
    expect((await asked(PARAPHRASE)).decidedBy).toBe('model')
    await setModel({})
    expect((await asked(PARAPHRASE)).decidedBy).toBe('rules')
  })

  it.each(['It opens at nine [1, 2].', 'It opens at nine 【1】.', 'It opens at nine [1-2].'])(
    'cites passages in its own way: %s',
    async (said) => {
      await setModel({ reasoningModel: MODEL })
      reply = said
      const { answer, bundle } = await asked('When does the shop in Oslo open, and what does a kettle cost?')
      expect(answer).toMatch(/^It opens at nine (\[1\]\[2\]|\[1\])\.$/)
      expect(bundle.state).toBe('answerable')
    },
  )

  it('whose window is smaller than it was said is asked again with less', async () => {
    await setModel({ reasoningModel: MODEL })
    reply = 'From nine in the morning [1].'
    fake.script({ kind: 'status', status: 400, body: '{"error":{"code":"context_length_exceeded"}}' })
    const { answer, bundle, context } = await asked(PARAPHRASE)
    expect([answer, bundle.state]).toEqual([reply, 'answerable'])
    expect(context).toEqual({ contextTokens: 4096, passages: 1, cut: 0, leftOut: 0 })
    expect(fake.requests).toHaveLength(2)
  })

  it('that fails leaves a question that the passages hardly answer with the closest of them', async () => {
    await setModel({ reasoningModel: MODEL })
    fake.script({ kind: 'status', status: 401 })
    const { answer, bundle } = await asked(PARAPHRASE)
    expect(answer).toMatch(/^Closest passages:\n\n\[1\] .*\n\nThe shop in Oslo/)
    expect(bundle.state).toBe('partial')
  })
})

describe('a mark', () => {
  it('is taken off in whatever pieces it comes, and nothing else is', () => {
    for (const [text, shown, said] of [
      ['[none] No.', 'No.', 'none'],
      ['\n[PART]\n\nNine [1].', 'Nine [1].', 'part'],
      ['[1] says nine.', '[1] says nine.', undefined],
      ['[nonet] sings', '[nonet] sings', undefined],
      ['[none]', '', 'none'],
      ['[no', '[no', undefined],
      ['**[None]** No.', 'No.', 'none'],
      ['`[none]`: No.', 'No.', 'none'],
      ['【part】 Nine [1].', 'Nine [1].', 'part'],
      ['**Nine** [1].', '**Nine** [1].', undefined],
      ['(noon) is when', '(noon) is when', undefined],
    ] as const)
      for (let size = 1; size <= text.length; size++) {
        const reader = markReader()
        let taken = ''
        for (let at = 0; at < text.length; at += size) taken += reader.take(text.slice(at, at + size))
        expect([taken + reader.rest(), reader.said()]).toEqual([shown, said])
      }
  })

  it('does not settle a contradiction, nor what was withheld while the rest does not answer', () => {
    expect(stateByMark('conflict', undefined, 2)).toBe('conflict')
    expect(stateByMark('conflict', 'part', 1)).toBe('conflict')
    expect(stateByMark('conflict', 'none', 0)).toBe('not-enough-evidence')
    expect(stateByMark('permission-limited', 'none', 0)).toBe('permission-limited')
    expect(stateByMark('permission-limited', undefined, 1)).toBe('permission-limited')
  })
})
