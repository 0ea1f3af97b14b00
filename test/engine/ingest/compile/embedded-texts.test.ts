import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  embedNodes,
  embedQuery,
  embedQuestions,
  embedTrained,
  getSpaceAccount,
  termWeights,
} from '../../../../src/engine/library/embedding/embeddings.js'
import { DEFAULT_POLICIES } from '../../../../src/engine/library/spaces/manifest.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import { recordDimension, type VectorSpace } from '../../../../src/engine/store/rows/vector-spaces.js'
import { ANALYZER_VERSION } from '../../../../src/lib/text/analyze.js'
import { openSmallStore, PROVIDED, type SmallStore, vectorOf } from '../../../helpers/store.js'
import { inUse } from './trained-spaces.js'

const MODEL_BYTES = 64
const { signal } = new AbortController()

/** What a model was asked for. */
interface Call {
  model?: string
  texts: string[]
  purpose: string
  dimension?: number | undefined
  signal?: AbortSignal | undefined
}

let store: SmallStore
let calls: Call[]
/** Models that were loaded. */
let loaded: [string, Uint8Array][]

beforeEach(async () => {
  store = await openSmallStore()
  calls = []
  loaded = []
  const { lsa } = store.context
  const { load, embed } = lsa
  lsa.load = async (id, bytes) => {
    loaded.push([id, bytes])
    return await load(id, bytes)
  }
  lsa.embed = async (model, texts, purpose) => {
    calls.push({ model, texts, purpose })
    return await embed(model, texts, purpose)
  }
  store.context.models = {
    ...store.context.models,
    embedder: (reference: { model: string }, payer: { id: string }, dimension: number | undefined) => ({
      reference,
      maxBatch: 4,
      async embed(texts: string[], purpose: string, stop: AbortSignal | undefined) {
        expect(payer.id).toBe(store.rows<{ id: string }>('SELECT id FROM spaces')[0]?.id)
        calls.push({ model: reference.model, texts, purpose, dimension, signal: stop })
        return await store.embed(texts)
      },
    }),
  } as never
})
afterEach(() => store.end())

/** Bytes of a model made by the given version of the text analyser. */
function bytesOf(analyzer: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(MODEL_BYTES)
  new DataView(bytes.buffer).setUint32(8, analyzer, true)
  return bytes
}

function trained(analyzer = ANALYZER_VERSION): { space: SpaceRow; model: VectorSpace } {
  const space = store.createSpace()
  const model = inUse(store, space, bytesOf(analyzer))
  return { space: store.reload(space), model }
}
function provided(dimension?: number): SpaceRow {
  const space = store.createSpace({ model: PROVIDED })
  if (dimension !== undefined) store.write(() => recordDimension(space.key, dimension, space.vector_space))
  return store.reload(space)
}

const numbered = (count: number) => Array.from({ length: count }, (_, n) => `${'x'.repeat(n)}`)

describe('embedding of passages', () => {
  it('sends titles with texts, in order, to the model of the space, which is loaded once', async () => {
    const { space, model } = trained()
    const nodes = [...'abc'].map((title, n) => ({ title, text: `text ${'x'.repeat(n)}` }))
    store.embed = (texts) => texts.map((text) => (text.startsWith('b') ? undefined : vectorOf(text)))
    const embedded = await embedNodes(store.context, space, nodes)
    expect(embedded?.vectorSpace).toEqual(model)
    expect(embedded?.vectors).toEqual([vectorOf('a\ntext '), undefined, vectorOf('c\ntext xx')])
    expect(calls).toEqual([{ model: model.id, texts: ['a\ntext ', 'b\ntext x', 'c\ntext xx'], purpose: 'document' }])
    await embedNodes(store.context, space, nodes)
    expect(loaded).toEqual([[model.id, expect.objectContaining({ length: MODEL_BYTES })]])
  })

  it('sends messages of at most 64 texts, each text once', async () => {
    const { model } = trained()
    const texts = numbered(150)
    expect(await embedTrained(store.context, model, texts)).toEqual(texts.map(vectorOf))
    expect(calls.flatMap((call) => call.texts)).toEqual(texts)
    expect(Math.max(...calls.map((call) => call.texts.length))).toBeLessThanOrEqual(64)
  })

  it('does nothing without texts or while the space has no model', async () => {
    const node = { title: 't', text: 'x' }
    expect(await embedNodes(store.context, store.createSpace(), [node])).toBeUndefined()
    expect(await embedNodes(store.context, trained().space, [])).toBeUndefined()
    expect(calls).toEqual([])
  })

  it('fails with an error when the bytes of the model are lost', async () => {
    const { space, model } = trained()
    store.run('UPDATE vector_spaces SET model = NULL')
    await expect(embedNodes(store.context, space, [{ title: 't', text: 'x' }])).rejects.toMatchObject({
      code: 'internal',
    })
    await expect(embedTrained(store.context, model, ['x'])).rejects.toMatchObject({ code: 'internal' })
  })
})

describe('embedding of a question', () => {
  it('uses the question mode of the model of the space', async () => {
    const { space, model } = trained()
    expect(await embedQuery(store.context, space, 'who')).toEqual({
      ...{ vector: vectorOf('who'), vectorSpaceId: model.id, dimension: 2 },
    })
    expect(calls).toEqual([{ model: model.id, texts: ['who'], purpose: 'query' }])
    store.embed = () => [undefined]
    expect(await embedQuery(store.context, space, 'zyx')).toBeUndefined()
  })

  it('uses the provider of the space when the dimension of its vectors is known', async () => {
    const space = provided(2)
    expect(await embedQuery(store.context, space, 'who', { signal })).toEqual({
      ...{ vector: vectorOf('who'), vectorSpaceId: space.vector_space, dimension: 2 },
    })
    expect(calls).toEqual([{ model: PROVIDED.model, texts: ['who'], purpose: 'query', dimension: 2, signal }])
    store.embed = () => []
    await expect(embedQuery(store.context, space, 'who')).rejects.toMatchObject({ code: 'internal' })
  })

  it('gives no vector while the space has no model with a known dimension', async () => {
    expect(await embedQuery(store.context, store.createSpace(), 'who')).toBeUndefined()
    expect(await embedQuery(store.context, provided(), 'who')).toBeUndefined()
    expect(calls).toEqual([])
  })
})

describe('embedding of questions for comparison', () => {
  it('keeps the order of the questions and sends at most 64 of them in a message', async () => {
    const { space, model } = trained()
    const questions = numbered(130)
    store.embed = (texts) => texts.map((text) => (text.length === 70 ? undefined : vectorOf(text)))
    const made = await embedQuestions(store.context, space, questions)
    expect(made).toEqual(questions.map((text) => (text.length === 70 ? undefined : vectorOf(text))))
    expect(calls.flatMap((call) => call.texts)).toEqual(questions)
    for (const call of calls) expect(call).toMatchObject({ model: model.id, purpose: 'query' })
    expect(Math.max(...calls.map((call) => call.texts.length))).toBeLessThanOrEqual(64)
  })

  it('works with a provider that has not yet made a vector for the space', async () => {
    expect(await embedQuestions(store.context, provided(), ['who', 'what'], signal)).toEqual(
      ['who', 'what'].map(vectorOf),
    )
    store.run('DELETE FROM spaces')
    await embedQuestions(store.context, provided(2), ['who'])
    expect(calls).toMatchObject([
      { texts: ['who', 'what'], purpose: 'query', dimension: undefined, signal },
      { texts: ['who'], purpose: 'query', dimension: 2 },
    ])
  })

  it('gives no vectors while the space has no model', async () => {
    expect(await embedQuestions(store.context, store.createSpace(), ['who'])).toBeUndefined()
    expect(calls).toEqual([])
  })
})

describe('term weights', () => {
  it('come from the model of the space, which is loaded for them', async () => {
    const { space, model } = trained()
    expect(await termWeights(store.context, space, ['a', 'bb'])).toEqual(
      new Map([
        ['a', 1],
        ['bb', 2],
      ]),
    )
    expect(loaded.map(([id]) => id)).toEqual([model.id])
  })

  it('do not exist in a space without a model or with a model of a provider', async () => {
    expect(await termWeights(store.context, store.createSpace(), ['a'])).toBeUndefined()
    store.run('DELETE FROM spaces')
    expect(await termWeights(store.context, provided(2), ['a'])).toBeUndefined()
  })
})

describe('a model of an earlier text analyser', () => {
  it('becomes superseded at the first question, and its space is scheduled for training', async () => {
    const { space } = trained(ANALYZER_VERSION - 1)
    store.wokenSpaces.length = 0
    expect(await embedQuery(store.context, space, 'who')).toBeUndefined()
    expect(store.rows('SELECT state FROM vector_spaces')).toEqual([{ state: 'superseded' }])
    expect(store.wokenSpaces).toEqual([space.key])
    expect(loaded).toEqual([])
    expect(await embedNodes(store.context, space, [{ title: 't', text: 'x' }])).toBeUndefined()
    expect(store.wokenSpaces).toHaveLength(1)
  })

  it('does not replace a newer model when a caller still uses the old row of the space', async () => {
    const { space } = trained(ANALYZER_VERSION - 1)
    const next = inUse(store, space, bytesOf(ANALYZER_VERSION))
    // A caller with the old row of the space still asks by the old model.
    await embedQuery(store.context, space, 'who')
    expect(store.rows("SELECT id FROM vector_spaces WHERE state = 'active'")).toEqual([{ id: next.id }])
    expect(await embedQuery(store.context, store.reload(space), 'who')).toMatchObject({ vectorSpaceId: next.id })
  })
})

describe('the billing account of an embedding', () => {
  const budgets = { ...DEFAULT_POLICIES.quotaPolicy.providerBudgets, maxEmbeddingTokensPerDay: 7 }
  const policies = { quotaPolicy: { ...DEFAULT_POLICIES.quotaPolicy, providerBudgets: budgets } }

  it('belongs to the space and applies its current budgets', async () => {
    const space = store.createSpace({ policies })
    const payer = getSpaceAccount(store.context, space)
    expect(payer).toMatchObject({ tenant: space.tenant, id: space.id })
    expect(await payer.limits()).toEqual(budgets)
    store.run('UPDATE spaces SET deleted_at = 1')
    expect(await payer.limits()).toEqual(budgets)
    store.run("UPDATE spaces SET manifest = json_remove(manifest, '$.quotaPolicy')")
    expect(await payer.limits()).not.toMatchObject({ maxEmbeddingTokensPerDay: 7 })
    store.run('DELETE FROM spaces')
    expect(await payer.limits()).toEqual({})
  })
})
