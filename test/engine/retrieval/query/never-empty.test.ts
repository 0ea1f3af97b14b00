import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { EvidenceBundle } from '../../../../src/contract/gateway/queries.js'
import { dropThinking } from '../../../../src/engine/retrieval/query/generate.js'
import { ADA, type AskResult, ask, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../../helpers/fake-openai.js'

let test: TestEngine
let spaceId: string

let spaces = 0
const makeSpace = async (): Promise<void> => {
  spaceId = (await test.engine.spaces.create(ADA, { name: 'Notes', slug: `notes-${spaces++}` })).id
}

/** The answer that quotes one block of `a.md`. */
const quoted = (block: string): string => `[1] a.md\n\n${block}`

const stateOf = ({ done }: AskResult): string =>
  (done.metadata as { evidenceBundle: EvidenceBundle }).evidenceBundle.state

/** Asks a question and its follow-ups in one session. */
const converse = async (first: string, ...next: string[]): Promise<AskResult[]> => {
  const asked = [await ask(test.engine, ADA, spaceId, first)]
  for (const query of next)
    asked.push(await ask(test.engine, ADA, spaceId, query, { sessionId: asked[0]?.sessionId ?? '' }))
  return asked
}

describe('a follow-up question', () => {
  beforeAll(async () => {
    test = await startEngine()
  })
  beforeEach(makeSpace)
  afterAll(() => test.end())

  it('gets the reply that it refers to the previous question if the documents have nothing more on it', async () => {
    await ingest(test.engine, ADA, spaceId, { 'a.md': 'In August, Ida Keller is on call.' })
    const [first, ...others] = await converse(
      'Who is on call in August?',
      'And then?',
      'Why?',
      'And on Sundays?',
      'What about that one?',
      '那呢？',
      '?',
    )
    expect(first).toMatchObject({ answer: quoted('In August, Ida Keller is on call.') })
    for (const asked of others) {
      expect(asked.answer).toMatch(/refers to the one before it/)
      expect(asked.done.finishReason).toBe('no-retrieval-evidence')
      expect(stateOf(asked)).toBe('not-enough-evidence')
      expect(asked.done.metadata).toMatchObject({ cited: [] })
    }
  })

  it('does not quote a passage that shares a word with it but has another subject', async () => {
    await ingest(test.engine, ADA, spaceId, {
      'call.md': 'In August, Ida Keller is on call. She answers the red telephone in the north office.',
      'library.md': 'The library is closed on Sundays and opens again at noon of the next day.',
    })
    const [, sundays] = await converse('Who is on call in August?', 'And on Sundays?')
    expect(sundays?.answer).not.toContain('library')
    expect(sundays?.answer).not.toBe('')
  })

  it('gets an answer from a passage with its own words or the requested type of answer', async () => {
    await ingest(test.engine, ADA, spaceId, {
      'a.md': 'In August, Ida Keller is on call.\n\nIn September, Ben Ito is on call.\n\nThe office opened in 1994.',
    })
    const [, september] = await converse('Who is on call in August?', 'And in September?')
    expect(september).toMatchObject({ answer: quoted('In September, Ben Ito is on call.') })
    const [, when] = await converse('Did the office open?', 'And when?')
    expect(when).toMatchObject({ answer: quoted('The office opened in 1994.') })
  })

  it('keeps the subject of the session for later questions', async () => {
    await ingest(test.engine, ADA, spaceId, {
      'a.md': 'In August, Ida Keller is on call. In September, Ben Ito is on call.',
    })
    const [, , september] = await converse('Who is on call in August?', 'And then?', 'And in September?')
    expect(september?.answer).toContain('Ben Ito')
  })
})

describe('a chat model as default generator', () => {
  const MODEL = { pluginId: 'openai-compatible', provider: 'local', model: 'some-model' }
  let fake: FakeOpenAi
  let reply: string

  beforeAll(async () => {
    fake = await startFakeOpenAi({ apiKey: 'key', dimension: 8, answer: () => reply })
    test = await startEngine({
      providers: [{ pluginId: MODEL.pluginId, provider: MODEL.provider, baseUrl: fake.url, apiKey: 'key' }],
      defaultGenerator: MODEL,
    })
    await makeSpace()
    await ingest(test.engine, ADA, spaceId, { 'a.md': 'In August, Ida Keller is on call.' })
  })
  afterAll(async () => {
    await test.end()
    await fake.close()
  })

  it.each(['', '  \n ', '<think>Let me see.</think>', '<think>never ends', '[1]', '...'])(
    'with an empty reply is replaced by a quotation: %j',
    async (withoutThoughts) => {
      reply = withoutThoughts
      const asked = await ask(test.engine, ADA, spaceId, 'Who is on call in August?')
      expect(asked.answer).toBe(quoted('In August, Ida Keller is on call.'))
      const trace = await test.engine.queries.trace(ADA, asked.traceId)
      const failed = trace.steps.filter(({ name, status }) => name === 'query.answer' && status === 'error')
      expect(failed).toMatchObject([{ metadata: { model: 'some-model', errorClass: 'provider-failed' } }])
    },
  )

  it('answers follow-up questions, and its thoughts are removed from the answer', async () => {
    reply = '<think>hm, "call"</think>\nIda Keller is on call [1].'
    const [, sundays] = await converse('Who is on call in August?', 'And then?')
    expect(sundays).toMatchObject({ answer: 'Ida Keller is on call [1].' })
    expect(stateOf(sundays as AskResult)).toBe('answerable')
  })
})

describe('the output of a model', () => {
  const events = async function* (pieces: string[]) {
    for (const text of pieces) yield { type: 'delta' as const, text }
    yield { type: 'end' as const, finishReason: 'stop' }
  }
  const withoutThoughts = async (text: string, size: number): Promise<string> => {
    const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
    let out = ''
    for await (const event of dropThinking(events(pieces))) if (event.type === 'delta') out += event.text
    return out
  }

  it('loses the thoughts before the answer, however the stream is chunked', async () => {
    const text = ' <think>a < b </ think</think>\n<think>again</think> So [1] it is <think>not</think> so.'
    for (const size of [1, 2, 3, 5, 8, 100])
      expect(await withoutThoughts(text, size)).toBe('So [1] it is <think>not</think> so.')
    expect(await withoutThoughts('<b>bold</b> words', 1)).toBe('<b>bold</b> words')
  })
})
