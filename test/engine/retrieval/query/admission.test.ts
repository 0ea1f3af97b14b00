import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Caller } from '../../../../src/engine/base/caller.js'
import type { EngineContext } from '../../../../src/engine/library/context.js'
import { setProfile } from '../../../../src/engine/library/rows/retrieval-profiles.js'
import { BUILTIN_ANSWER } from '../../../../src/engine/models/registry.js'
import { admit } from '../../../../src/engine/retrieval/query/admission.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import { newId } from '../../../../src/lib/ids.js'
import { ADA, BOB } from '../../../helpers/engine.js'
import { openSmallStore, PROVIDED, type SmallStore } from '../../../helpers/store.js'
import { bodyOf, MODEL, publish, restrict } from './small-space.js'

let store: SmallStore
let space: SpaceRow
let models: EngineContext['models']
beforeAll(async () => {
  store = await openSmallStore()
})
afterAll(() => store.end())
beforeEach(() => {
  space = store.createSpace()
  models = store.context.models
})

const ask = (body: object = {}, caller: Caller = ADA) =>
  store.db.now(admit({ models }, caller, bodyOf(space, 'Q?', body)))
const profile = (more: object) =>
  store.write(() =>
    setProfile(space.key, 2, {
      ...{ defaultMode: 'fast', modes: ['fast', 'deep'], topK: 7, scoreThreshold: 0.2, rerank: { enabled: true } },
      ...more,
    }),
  )
/** Makes the daemon offer models for these purposes only. */
const having = (...purposes: string[]) => {
  models = { ...models, has: (_: unknown, purpose: string) => purposes.includes(purpose) } as never
}
const code = (wanted: string) => expect.objectContaining({ code: wanted })

describe('the admission of a query', () => {
  it('captures the snapshot and profile of the space at that moment', async () => {
    await publish(store, space, { 'a.md': 'Lamp.' })
    const row = store.reload(space)
    expect(ask()).toEqual({
      ...{ subject: ADA.subject, space: expect.objectContaining({ key: space.key, head_revision: 1 }), seq: 1 },
      profile: expect.objectContaining({ revision: 1, topK: 10 }),
      snapshot: {
        ...{ publicationId: row.publication_id, fingerprint: row.fingerprint, headRevision: 1, projectionVersion: 1 },
      },
      ...{ nodes: 1, traceBytes: 0 },
    })
  })

  it('uses the retrieval profile of the space', () => {
    profile({})
    expect(ask().profile).toMatchObject({ revision: 2, topK: 7, scoreThreshold: 0.2 })
  })

  it('accepts document ids if the caller may read all of them, and otherwise fails with not-found', async () => {
    await publish(store, space, { 'a.md': 'Lamp.', 'b.md': 'Iron.' })
    const documents = store.rows<{ id: string; key: number }>(
      'SELECT id, key FROM documents WHERE space_key = ?',
      space.key,
    )
    const activeDocumentIds = documents.map(({ id }) => id)
    expect(ask({ activeDocumentIds }).docs).toEqual(documents.map(({ key }) => key))
    expect(() => ask({ activeDocumentIds: [newId()] })).toThrow(code('not-found'))
    restrict(store, space, ['b.md'], 'eve')
    expect(() => ask({ activeDocumentIds })).toThrow(code('not-found'))
    expect(ask({ activeDocumentIds }, { ...ADA, subject: 'eve' }).docs).toHaveLength(2)
  })

  it('accepts auto, no mode, or a mode that the profile allows, and rejects other modes', () => {
    profile({})
    expect(() => ask({ mode: 'research' })).toThrow(code('profile-mode-mismatch'))
    for (const mode of ['deep', 'auto', undefined])
      expect(ask(mode === undefined ? {} : { mode }).space.key).toBe(space.key)
  })
})

describe('the refusal of a query', () => {
  it('reports not-found for an unknown space and for a space of another tenant', () => {
    expect(() => ask({ knowledgeSpaceId: newId() })).toThrow(code('not-found'))
    expect(() => ask({}, BOB)).toThrow(code('not-found'))
  })

  it('reports deletion-active for a space that is being deleted', () => {
    store.run('UPDATE spaces SET deleted_at = 1 WHERE key = ?', space.key)
    expect(() => ask()).toThrow(code('deletion-active'))
  })

  it('reports provider-not-configured if the daemon lacks the embedding model of the space', () => {
    having('generation', 'rerank')
    expect(ask().space.key).toBe(space.key)
    space = store.createSpace({ model: PROVIDED })
    expect(() => ask()).toThrow(code('provider-not-configured'))
    having('embedding')
    expect(ask().space.key).toBe(space.key)
  })

  it('reports provider-not-configured if the daemon lacks the reasoning model, unless it is built in', () => {
    profile({ reasoningModel: MODEL })
    expect(ask().profile.reasoningModel).toEqual(MODEL)
    having('embedding', 'rerank')
    expect(() => ask()).toThrow(code('provider-not-configured'))
    profile({ reasoningModel: BUILTIN_ANSWER })
    expect(ask().profile.reasoningModel).toEqual(BUILTIN_ANSWER)
  })

  it('reports provider-not-configured if the daemon lacks the rerank model and reranking is enabled', () => {
    profile({ rerank: { enabled: true, model: MODEL } })
    expect(ask().profile.rerank.model).toEqual(MODEL)
    having('embedding', 'generation')
    expect(() => ask()).toThrow(code('provider-not-configured'))
    profile({ rerank: { enabled: false, model: MODEL } })
    expect(ask().profile.rerank.enabled).toBe(false)
  })
})
