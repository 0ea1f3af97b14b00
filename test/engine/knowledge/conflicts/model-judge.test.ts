import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { EvidenceBundle } from '../../../../src/contract/gateway/queries.js'
import { hashPair, judgeWithModel } from '../../../../src/engine/knowledge/conflicts/model-judge.js'
import type { EngineContext } from '../../../../src/engine/library/context.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import { newId } from '../../../../src/lib/ids.js'
import { openSmallStore, type SmallStore } from '../../../helpers/store.js'
import { admitted, MODEL, never, speaking } from '../../retrieval/query/small-space.js'

let store: SmallStore
let space: SpaceRow
let context: EngineContext
beforeAll(async () => {
  store = await openSmallStore()
  space = store.createSpace()
})
afterAll(() => store.end())
beforeEach(() => {
  context = { ...store.context }
})

/** Sentence pairs that no other test uses. */
const pairs = (count: number): [string, string][] => {
  const name = newId()
  return Array.from({ length: count }, (_, n) => [
    `The tower ${name} is ${n} m high.`,
    `The tower ${name} is ${n + 50} m high.`,
  ])
}
type Bundle = EvidenceBundle & { left: number }

/** Judges evidence in which all pairs contradict each other that are not known to agree. */
const judge = (of: [string, string][], profile: object = { reasoningModel: MODEL }, signal = never) =>
  judgeWithModel(
    context,
    admitted(store, space, { profile }),
    (agree) => {
      const left = of.filter(([one, other]) => !agree(one, other)).length
      return { state: left > 0 ? 'conflict' : 'answerable', left } as unknown as Bundle
    },
    signal,
  ) as Promise<Bundle>
const verdictReply = (...verdicts: ('contradict' | 'compatible')[]) => JSON.stringify(verdicts)

describe('a contradiction that rules found', () => {
  it('disappears if the model finds that both statements can be true', async () => {
    const asked = speaking(context, verdictReply('compatible', 'contradict'))
    const of = pairs(2)
    expect(await judge(of)).toEqual({ state: 'conflict', left: 1 })
    expect(asked).toHaveLength(1)
    expect(JSON.parse(asked[0]?.messages[1]?.content ?? '')).toEqual({ pairs: of })
    expect(asked[0]?.options.maxTokens).toBe(120)
    speaking(context, verdictReply('compatible', 'compatible'))
    expect(await judge(pairs(2))).toEqual({ state: 'answerable', left: 0 })
    speaking(context, verdictReply('contradict'))
    expect(await judge(pairs(1))).toEqual({ state: 'conflict', left: 1 })
  })

  it('reaches the same model once, in either order of the statements', async () => {
    const [pair = ['', '']] = pairs(1)
    speaking(context, verdictReply('compatible'))
    await judge([pair])
    const again = speaking(context)
    expect(await judge([pair])).toMatchObject({ left: 0 })
    expect(await judge([[pair[1], pair[0]]])).toMatchObject({ left: 0 })
    expect(again).toHaveLength(0)
    // The verdict of another model is stored separately.
    const other = speaking(context, verdictReply('contradict'))
    expect(await judge([pair], { reasoningModel: { ...MODEL, model: 'another' } })).toMatchObject({ left: 1 })
    expect(other).toHaveLength(1)
    expect(hashPair(MODEL, pair)).toBe(hashPair(MODEL, [pair[1], pair[0]]))
    expect(hashPair(MODEL, pair)).not.toBe(hashPair({ ...MODEL, provider: 'another' }, pair))
  })

  it('remains without another call if the model confirmed it before', async () => {
    const of = pairs(1)
    speaking(context, verdictReply('contradict'))
    await judge(of)
    const again = speaking(context)
    expect(await judge(of)).toMatchObject({ left: 1 })
    expect(again).toHaveLength(0)
  })

  it('reaches the model for at most four pairs, and the rules decide further pairs', async () => {
    const asked = speaking(context, verdictReply('compatible', 'compatible', 'compatible', 'compatible'))
    expect(await judge(pairs(6))).toMatchObject({ left: 2 })
    expect(JSON.parse(asked[0]?.messages[1]?.content ?? '').pairs).toHaveLength(4)
  })

  it('remains without a model, and if the replies of the model are unusable', async () => {
    const none = speaking(context)
    expect(await judge(pairs(1), {})).toMatchObject({ left: 1 })
    expect(await judge([])).toMatchObject({ left: 0, state: 'answerable' })
    expect(none).toHaveLength(0)
    for (const reply of ['no idea', verdictReply('compatible'), '["compatible", "perhaps"]', '{"a": "compatible"}']) {
      const asked = speaking(context, reply, reply)
      expect(await judge(pairs(2))).toMatchObject({ left: 2 })
      expect(asked).toHaveLength(2)
    }
    speaking(context, new Error('off'))
    expect(await judge(pairs(1))).toMatchObject({ left: 1 })
  })

  it('reaches the default model of the daemon if the profile names no model', async () => {
    context.options = { ...context.options, defaultGenerator: MODEL }
    speaking(context, verdictReply('compatible'))
    expect(await judge(pairs(1), {})).toMatchObject({ left: 0 })
  })

  it('reaches the model with at most 600 characters of each statement', async () => {
    const asked = speaking(context, verdictReply('compatible'))
    await judge([[`${newId()} ${'word '.repeat(400)}`, `The tower ${newId()}.`]])
    const [[one, other] = ['', '']] = JSON.parse(asked[0]?.messages[1]?.content ?? '').pairs
    expect(one.length).toBeLessThanOrEqual(600)
    expect(one.length).toBeGreaterThan(500)
    expect(other).toMatch(/^The tower/)
  })

  it('rejects with the abort reason if the query was aborted while the model judges it', async () => {
    const gone = new AbortController()
    gone.abort(new Error('gone'))
    speaking(context, new Error('off'))
    await expect(judge(pairs(1), undefined, gone.signal)).rejects.toThrow('gone')
  })
})
