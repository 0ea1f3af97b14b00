import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { EvidenceBundle } from '../../../../src/contract/gateway/queries.js'
import { ADA, ask, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../../helpers/fake-openai.js'
import { until } from '../../../helpers/until.js'

const MODEL = { pluginId: 'openai-compatible', provider: 'local', model: 'embedder' }
const DIMENSION = 256
/** Magnitude that unrelated texts have in common for the model, as for many real models. */
const COMMON = 1.2

/** Topics of texts, by a word that they contain. */
const TOPICS = [
  ['salary', 'earn'],
  ['holiday', 'vacation'],
  ['parking', 'cars'],
  ['boiler', 'heating'],
]

/** Deterministic noise for a text: a linear congruential generator seeded with it. */
function noise(seed: string): number[] {
  let state = [...seed].reduce((sum, character) => (sum * 31 + (character.codePointAt(0) ?? 0)) >>> 0, 7)
  return Array.from({ length: DIMENSION }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 31 - 1
  })
}

/** The vector of a text: its topic, whatever its words, on top of the part that all texts have in common. */
function vector(text: string): number[] {
  const topic = TOPICS.find((words) => words.some((word) => text.toLowerCase().includes(word)))
  const meaning = noise(topic?.[0] ?? text)
  const own = noise(text)
  return meaning.map((value, place) => COMMON + value + 0.15 * (own[place] ?? 0))
}

const FILES: Record<string, string> = {
  'pay.md': '# Pay\n\nThe salary of an engineer is 5,000 crowns a month.\n',
  'leave.md': '# Leave\n\nEverybody has thirty days of holiday.\n',
  ...Object.fromEntries(
    Array.from({ length: 60 }, (_, n) => [
      `note-${n}.md`,
      `# Note ${n}\n\nThe ledger of room ${n} lists chairs, lamps and item ${n * 7}.\n`,
    ]),
  ),
}

let fake: FakeOpenAi
let test: TestEngine
let spaceId: string

beforeAll(async () => {
  fake = await startFakeOpenAi({ dimension: DIMENSION, models: [MODEL.model], vector })
  const { pluginId, provider } = MODEL
  test = await startEngine({ providers: [{ pluginId, provider, baseUrl: fake.url, timeoutMs: 5000 }] })
  spaceId = (await test.engine.spaces.create(ADA, { name: 'N', slug: 'n', embeddingProfile: MODEL })).id
  await ingest(test.engine, ADA, spaceId, FILES)
  await until(
    async () => (await test.engine.spaces.status(ADA, spaceId)).index.summaries.denseVector.ready === 62,
    30_000,
  )
})
afterAll(async () => {
  await test.end()
  await fake.close()
})

async function asked(query: string) {
  const { answer, done } = await ask(test.engine, ADA, spaceId, query)
  const { evidenceBundle, metrics } = done.metadata as {
    evidenceBundle: EvidenceBundle
    metrics: { denseBackground?: { middle: number; spread: number; samples: number } }
  }
  return { answer, state: evidenceBundle.state, first: evidenceBundle.items[0], metrics }
}

describe('vectors of an embedding provider', () => {
  it('find a passage that shares no term with the question, and make the evidence answerable', async () => {
    const { answer, first, state } = await asked('How much money do people earn?')
    expect(first?.metadata.filename).toBe('pay.md')
    expect(first?.score).toBeGreaterThan(0.5)
    expect(state).toBe('answerable')
    expect(answer).toContain('5,000 crowns')
  })

  it('make the evidence answerable if the best passage shares only one term with the question', async () => {
    const { answer, first, state } = await asked('Is there any vacation, and who has thirty of it?')
    expect(first?.metadata.filename).toBe('leave.md')
    expect(state).toBe('answerable')
    expect(answer).toContain('thirty days')
  })

  it('add no confidence if all cosines are as high as those of unrelated texts', async () => {
    const { state, metrics } = await asked('Which dragon guards the treasure of the mountain?')
    expect(metrics.denseBackground?.middle).toBeGreaterThan(0.4)
    expect(metrics.denseBackground?.samples).toBeGreaterThan(50)
    expect(state).toBe('not-enough-evidence')
  })
})
