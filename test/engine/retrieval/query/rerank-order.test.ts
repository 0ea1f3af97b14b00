import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { EvidenceBundle } from '../../../../src/contract/gateway/queries.js'
import { ADA, ask, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../../helpers/fake-openai.js'

const RERANKER = { pluginId: 'openai-compatible', provider: 'local', model: 'cross-encoder' }
const QUESTION = 'How tall is the lighthouse of Westerheversand?'
/** Number of candidates that are sent to a rerank model. */
const WINDOW = 30
/** Each document matches the question a little less than the previous one; names connect them for second hops. */
const FILES = Object.fromEntries(
  Array.from({ length: 40 }, (_, n) => [
    `page-${String(n).padStart(2, '0')}.md`,
    `# Page ${n}\n\nThe lighthouse of Westerheversand is tall. ${'Sheep graze on the dyke near Poppenbüll. '.repeat(n)}\n`,
  ]),
)
/** Scales of rerank models: relevance, logits of either sign, percentages. */
const SCALES: [string, (place: number) => number][] = [
  ['relevance', (place) => (place + 1) / (WINDOW + 1)],
  ['logits below 0', (place) => place - 40],
  ['logits around 0', (place) => (place - WINDOW / 2) / 2],
  ['percentages', (place) => 60 + place],
  ['large logits that differ little', (place) => 50 + place / 1000],
]

const rerankOf = ({ scores }: EvidenceBundle['items'][number]): number => scores.rerank ?? Number.NaN

let fake: FakeOpenAi
let test: TestEngine
let spaceId: string

beforeAll(async () => {
  fake = await startFakeOpenAi()
  const { pluginId, provider } = RERANKER
  test = await startEngine({ providers: [{ pluginId, provider, baseUrl: fake.url, timeoutMs: 60_000 }] })
  spaceId = (await test.engine.spaces.create(ADA, { name: 'N', slug: 'n' })).id
  await ingest(test.engine, ADA, spaceId, FILES)
  await test.engine.spaces.setRetrievalProfile(ADA, spaceId, {
    defaultMode: 'fast',
    modes: ['fast', 'deep'],
    topK: 10,
    scoreThreshold: 0,
    rerank: { enabled: true, model: RERANKER },
  })
})
afterAll(async () => {
  await test.end()
  await fake.close()
})
beforeEach(() => {
  fake.requests.length = 0
  fake.clear()
})

describe.each(['fast', 'deep'] as const)('a query in mode %s with a rerank model', (mode) => {
  it.each(SCALES)('returns passages in the order of the model instead of the text order: %s', async (_, score) => {
    fake.script({ kind: 'scores', scores: Array.from({ length: WINDOW }, (_one, place) => score(place)) })
    const { done } = await ask(test.engine, ADA, spaceId, QUESTION, { mode })
    const { evidenceBundle } = done.metadata as { evidenceBundle: EvidenceBundle }
    const [request] = fake.requests.filter(({ path }) => path.endsWith('/rerank'))
    const sent = (request?.body.documents ?? []).map((text) => text.split('\n')[0])
    expect(sent).toHaveLength(WINDOW)
    const shown = evidenceBundle.items.map(({ metadata }) => String(metadata.title))
    expect(shown).toEqual(sent.reverse().slice(0, 10))
    for (const values of [evidenceBundle.items.map((item) => item.score), evidenceBundle.items.map(rerankOf)]) {
      expect([...values].sort((a, b) => b - a)).toEqual(values)
      expect(Math.max(...values)).toBeLessThanOrEqual(1)
      expect(Math.min(...values)).toBeGreaterThanOrEqual(0)
    }
    expect(evidenceBundle.items[0]?.score).toBeGreaterThan(0.3)
  })

  it('reports not-enough-evidence if all scores of the model are large negative numbers', async () => {
    fake.script({ kind: 'scores', scores: Array.from({ length: WINDOW }, (_one, place) => -8 - place / 10) })
    const { done } = await ask(test.engine, ADA, spaceId, 'Who composed the opera about Vienna?', { mode })
    expect((done.metadata as { evidenceBundle: EvidenceBundle }).evidenceBundle.state).toBe('not-enough-evidence')
  })
})

describe('second hops of mode deep', () => {
  const ASKED = 'Which salary does the keeper of the lighthouse of Westerheversand get?'
  const FIRST = 'The keeper of the lighthouse of Westerheversand gets the salary that Jens Ockholm gets.\n'
  const SECOND = 'Jens Ockholm earns forty crowns.\n'
  const others = Array.from({ length: 24 }, (_, n) => [
    `other-${n}.md`,
    `The keeper of the lighthouse of Westerheversand wrote letter ${n} to the keeper of a lighthouse.\n`,
  ])
  const setModel = (id: string, rerank: object) =>
    test.engine.spaces.setRetrievalProfile(ADA, id, {
      defaultMode: 'deep',
      modes: ['deep'],
      topK: 10,
      scoreThreshold: 0,
      rerank: { enabled: true, ...rerank },
    })

  it('get reserved ranks without a rerank model, and only the ranks of their scores with a model', async () => {
    const { id } = await test.engine.spaces.create(ADA, { name: 'Hops', slug: 'hops' })
    await ingest(test.engine, ADA, id, { ...Object.fromEntries(others), 'first.md': FIRST, 'second.md': SECOND })
    await setModel(id, {})
    const filesOf = async () => {
      const { done } = await ask(test.engine, ADA, id, ASKED, { mode: 'deep' })
      const { evidenceBundle } = done.metadata as { evidenceBundle: EvidenceBundle }
      return evidenceBundle.items.map(({ metadata }) => String(metadata.filename))
    }
    const byText = await filesOf()
    expect(byText).toContain('second.md')
    await setModel(id, { model: RERANKER })
    await filesOf()
    const [request] = fake.requests.filter(({ path }) => path.endsWith('/rerank'))
    const scores = (request?.body.documents ?? []).map((text, place) =>
      text.includes(SECOND.trim()) ? 0 : 0.9 - place / 100,
    )
    expect(scores).toContain(0)
    fake.script({ kind: 'scores', scores })
    expect(await filesOf()).not.toContain('second.md')
  })
})
