import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { KsError } from '../../../../src/contract/errors.js'
import type { QueryBody } from '../../../../src/contract/gateway/queries.js'
import type { EngineContext } from '../../../../src/engine/library/context.js'
import { BUILTIN_ANSWER } from '../../../../src/engine/models/registry.js'
import { resolveMode } from '../../../../src/engine/retrieval/query/mode.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import { openSmallStore, type SmallStore } from '../../../helpers/store.js'
import { bodyOf, MODEL, never, speaking } from './small-space.js'

let store: SmallStore
let context: EngineContext
let space: SpaceRow
beforeAll(async () => {
  store = await openSmallStore()
  space = store.createSpace()
})
afterAll(() => store.end())
beforeEach(() => {
  context = { ...store.context }
})

const PROFILE = {
  revision: 4,
  defaultMode: 'deep' as const,
  modes: ['fast' as const, 'deep' as const],
  topK: 10,
  scoreThreshold: 0,
  rerank: { enabled: true },
}
const route = (
  mode?: QueryBody['mode'],
  profile: object = { reasoningModel: MODEL },
  query = 'How high?',
  signal = never,
) =>
  resolveMode(context, { space, profile: { ...PROFILE, ...profile } }, bodyOf(space, query, mode && { mode }), signal)
const END = { type: 'end', finishReason: 'stop' } as const
/** A reply of a model that reports this model name. */
const by = (model: unknown, text = '{"mode":"fast"}') => [
  { type: 'delta' as const, text },
  { ...END, ...(model === undefined ? {} : { metadata: { model } }) },
]

describe('the mode of a query', () => {
  it('defaults to the mode of the profile, and follows a mode that the query names', async () => {
    const asked = speaking(context)
    expect(await route()).toEqual({
      ...{ requestedMode: 'deep', resolvedMode: 'deep', resolver: 'explicit', selectionSource: 'profile-default' },
      ...{ degraded: false, profileRevision: 4 },
    })
    expect(await route('fast')).toEqual({
      ...{ requestedMode: 'fast', resolvedMode: 'fast', resolver: 'explicit', selectionSource: 'request' },
      ...{ degraded: false, profileRevision: 4 },
    })
    expect(asked).toEqual([])
  })

  it('comes from the reasoning model if the query requests auto', async () => {
    const asked = speaking(context, '{"mode":"fast"}')
    expect(await route('auto')).toEqual({
      ...{ requestedMode: 'auto', resolvedMode: 'fast', resolver: 'llm', selectionSource: 'reasoning-model' },
      ...{ degraded: false, profileRevision: 4, reasoningModel: MODEL, promptVersion: 'route-1' },
      usage: { inputTokens: 5, outputTokens: 2 },
    })
    const [system, user] = asked[0]?.messages ?? []
    expect(system).toMatchObject({ role: 'system', content: expect.stringContaining('"deep"') })
    expect(user).toEqual({ role: 'user', content: '{"question":"How high?"}' })
    expect(asked[0]?.options.maxTokens).toBe(50)
  })

  it('comes from a second call if the first reply of the model is unusable', async () => {
    const asked = speaking(context, 'Well, deep I think.', '{"mode":"deep"}')
    expect(await route('auto')).toMatchObject({ resolvedMode: 'deep', resolver: 'llm' })
    expect(asked).toHaveLength(2)
  })

  it('depends on at most the first 4,000 characters of the question', async () => {
    const asked = speaking(context, '{"mode":"fast"}')
    await route('auto', undefined, `How high? ${'word '.repeat(3000)}`)
    const question: string = JSON.parse(asked[0]?.messages[1]?.content ?? '{}').question
    expect(question.startsWith('How high?')).toBe(true)
    expect(question.length).toBeLessThanOrEqual(4000)
  })

  it.each([
    ['no reasoning model', {}, 'reasoning-model-unavailable'],
    ['the built-in model for quotations', { reasoningModel: BUILTIN_ANSWER }, 'reasoning-model-unavailable'],
  ])('falls back to the default mode of the profile with %s', async (_, profile, errorClass) => {
    const asked = speaking(context)
    const found = await route('auto', profile)
    expect(found).toMatchObject({
      ...{ requestedMode: 'auto', resolvedMode: 'deep', resolver: 'fallback', selectionSource: 'profile-default' },
      ...{ degraded: true, errorClass, profileRevision: 4, failure: { part: 'route', class: 'unavailable' } },
    })
    expect(found).not.toHaveProperty('promptVersion')
    expect(asked).toEqual([])
  })

  it.each<[string, ReturnType<typeof by> | string, string]>([
    ['names an unknown mode', '{"mode":"quick"}', 'invalid-reply'],
    ['is no object', '["fast"]', 'invalid-reply'],
    ['has another shape', '{"kind":"fast"}', 'invalid-reply'],
    ['names a mode that the profile does not allow', '{"mode":"research"}', 'mode-unavailable'],
    ['comes from another model', by('another'), 'model-identity-mismatch'],
    ['has no valid model name', by(7), 'model-identity-mismatch'],
  ])('falls back to the default mode of the profile if the reply %s', async (_, reply, errorClass) => {
    speaking(context, reply, reply)
    expect(await route('auto')).toMatchObject({
      ...{ resolvedMode: 'deep', resolver: 'fallback', degraded: true, errorClass },
      ...{ reasoningModel: MODEL, promptVersion: 'route-1' },
      failure: { part: 'route', reason: expect.stringMatching(/^auto fell back to the profile's default mode: /) },
    })
  })

  it.each(['some-model', 'Some_Model', 'org/some-model', 'some-model-2025-01-31', 'some', undefined])(
    'comes from the model "some-model" if the reply reports the model name %s',
    async (served) => {
      speaking(context, by(served))
      expect((await route('auto')).resolver).toBe('llm')
    },
  )

  it('comes from the model if its reply omits the folder of the configured model name', async () => {
    speaking(context, by('some-model'))
    expect((await route('auto', { reasoningModel: { ...MODEL, model: 'org/some-model' } })).resolver).toBe('llm')
  })

  it('falls back to the default mode of the profile if the model fails, and reports the failure', async () => {
    speaking(context, new KsError('quota-exceeded', 'no tokens are left today'))
    expect(await route('auto')).toMatchObject({
      ...{ resolvedMode: 'deep', resolver: 'fallback', errorClass: 'quota-exceeded', reasoningModel: MODEL },
      ...{ promptVersion: 'route-1', failure: { part: 'route', class: 'budget-spent' } },
    })
    speaking(context, new Error('off'))
    expect(await route('auto')).toMatchObject({ errorClass: 'provider-failed', failure: { class: 'unavailable' } })
  })

  it('rejects instead of falling back if the query was aborted', async () => {
    const gone = new AbortController()
    gone.abort(new Error('gone'))
    speaking(context, new Error('off'))
    await expect(route('auto', undefined, 'How high?', gone.signal)).rejects.toThrow('off')
  })
})
