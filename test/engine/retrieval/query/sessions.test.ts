import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { EvidenceBundle } from '../../../../src/contract/gateway/queries.js'
import type { Caller } from '../../../../src/engine/base/caller.js'
import { findUnstoredSessions, openSession, recordTurn } from '../../../../src/engine/retrieval/query/sessions.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import { insertTrace } from '../../../../src/engine/store/rows/traces.js'
import { newId } from '../../../../src/lib/ids.js'
import { ADA, BOB } from '../../../helpers/engine.js'
import { openSmallStore, type SmallStore } from '../../../helpers/store.js'
import { evidenceOf, publish } from './small-space.js'

const EVE: Caller = { ...ADA, subject: 'eve' }
const DAY_MS = 24 * 60 * 60 * 1000

let store: SmallStore
let space: SpaceRow
let clock: number
beforeAll(async () => {
  clock = Date.now()
  store = await openSmallStore({ now: () => clock, quotas: { maxActiveSessionCount: 3 } })
})
afterAll(() => store.end())
beforeEach(() => {
  space = store.createSpace()
})

const open = (id?: string, caller = ADA, of = space) => store.db.now(openSession(store.context, caller, of, id))
const turn = (id: string, query = 'Q', answer = 'A', { caller = ADA, traceId = newId(), of = space } = {}) => {
  clock++
  store.write(() => recordTurn(store.context, caller, of, { sessionId: id, traceId, query, answer }))
  return id
}
const stored = () =>
  store
    .rows<{ id: string }>('SELECT id FROM sessions WHERE space_key = ? ORDER BY created_at', space.key)
    .map(({ id }) => id)
const ends = () =>
  store.rows<{ at: number }>('SELECT expires_at at FROM sessions WHERE space_key = ?', space.key)[0]?.at ?? 0
/** Marks a query of the session as running until the returned lease is released. */
const running = (sessionId: string, caller: Caller = ADA, more: object = {}) =>
  store.context.leases.acquire({
    ...{ spaceKey: space.key, sessionId, subject: caller.subject, type: 'read', targetType: 'publication' },
    ...{ targetId: 'p', virtualPath: '/evidence', ...more },
  } as Parameters<typeof store.context.leases.acquire>[0])
const full = expect.objectContaining({ code: 'quota-exceeded' })

describe('a session', () => {
  it('starts without turns if the request has no id, and continues with its own id', () => {
    const { id, turns } = open()
    expect(turns).toEqual([])
    expect(open().id).not.toBe(id)
    turn(id, 'First?', 'One.')
    turn(id, 'Second?', 'Two.')
    expect(open(id)).toEqual({
      id,
      turns: [
        { query: 'First?', answer: 'One.' },
        { query: 'Second?', answer: 'Two.' },
      ],
    })
  })

  it('starts without turns for the id of another caller or space, or of an expired session', () => {
    const id = turn(newId())
    const other = store.createSpace()
    for (const found of [open(id, EVE), open(id, BOB), open(id, ADA, other), open(newId())]) {
      expect(found.id).not.toBe(id)
      expect(found.turns).toEqual([])
    }
    expect(ends()).toBeGreaterThan(clock)
    clock = ends() - 1
    expect(open(id).id).toBe(id)
    clock = ends()
    expect(open(id).id).not.toBe(id)
  })

  it('extends its lifetime with each turn', () => {
    const id = turn(newId())
    const first = ends()
    clock += DAY_MS / 24
    turn(id)
    expect(ends()).toBe(first + DAY_MS / 24 + 1)
    expect(stored()).toEqual([id])
  })

  it('contains the last twenty turns', () => {
    const id = newId()
    for (let n = 1; n <= 22; n++) turn(id, `Q${n}`)
    expect(open(id).turns.map(({ query }) => query)).toEqual(Array.from({ length: 20 }, (_, n) => `Q${n + 3}`))
  })

  it('does not contain the thoughts of a model', () => {
    const id = turn(newId(), 'Q', '<think>hm</think>One.')
    expect(open(id).turns[0]?.answer).toBe('One.')
  })

  it('replaces answers that cite a deleted document by a note', async () => {
    await publish(store, space, { 'a.md': 'Lamp.', 'b.md': 'Keeper.' })
    const id = newId()
    const documents = store.rows<{ id: string }>('SELECT id FROM documents WHERE space_key = ? ORDER BY key', space.key)
    for (const { id: documentAssetId } of documents) {
      const traceId = newId()
      const citation = { documentAssetId, documentVersion: 1, sectionPath: [] }
      const bundle: EvidenceBundle = {
        ...{ id: newId(), query: 'Q', traceId, createdAt: new Date().toISOString(), state: 'answerable' },
        ...{ items: [evidenceOf(newId(), 'Lamp.', { citations: [citation] })], missingEvidence: [] },
      }
      store.write(() =>
        insertTrace({
          ...{ id: traceId, tenant: ADA.tenant, spaceKey: space.key, subject: ADA.subject, query: 'Q', mode: 'fast' },
          ...{ requestedMode: 'fast', completed: true, steps: [], sessionId: id, bundle },
        }),
      )
      turn(id, 'Q', 'Said.', { traceId })
    }
    expect(open(id).turns.map(({ answer }) => answer)).toEqual(['Said.', 'Said.'])
    store.run('UPDATE documents SET deleted_at = ? WHERE id = ?', clock, documents[0]?.id ?? '')
    expect(open(id).turns.map(({ answer }) => answer)).toEqual([expect.stringMatching(/was deleted/), 'Said.'])
  })
})

describe('the session quota', () => {
  it('lets a new session replace the single-question session that is idle longest', () => {
    const ids = [1, 2, 3].map(() => turn(newId()))
    const next = open().id
    turn(next)
    expect(stored()).toEqual([...ids.slice(1), next])
  })

  it('ends no session with several turns, and rejects a new one instead', () => {
    const [first = '', ...others] = [1, 2, 3].map(() => turn(newId()))
    turn(first)
    turn(open().id)
    expect(stored()).toContain(first)
    expect(stored()).not.toContain(others[0])
    for (const id of stored()) turn(id)
    expect(() => open()).toThrow(full)
    expect(open(first).id).toBe(first)
  })

  it('ends no session with a running query', () => {
    const ids = [1, 2, 3].map(() => turn(newId()))
    const leases = ids.map((id) => running(id))
    expect(() => open()).toThrow(full)
    leases[1]?.release()
    turn(open().id)
    expect(stored()).not.toContain(ids[1])
    expect(stored()).toEqual(expect.arrayContaining([ids[0], ids[2]]))
  })

  it('counts sessions whose first query is running', () => {
    const leases = [1, 2, 3].map(() => running(newId()))
    expect(() => open()).toThrow(full)
    leases[0]?.release()
    expect(open().turns).toEqual([])
  })

  it('counts a session once for several running queries, and counts no leases of tasks or other spaces', () => {
    const id = newId()
    for (let n = 0; n < 4; n++) running(id)
    running(newId(), ADA, { subject: undefined })
    running(newId(), ADA, { spaceKey: space.key + 1 })
    const unstored = () => store.db.now(findUnstoredSessions(store.context, space)).map(({ sessionId }) => sessionId)
    expect(unstored()).toEqual([id])
    expect(open().id).not.toBe(id)
    turn(id)
    expect(unstored()).toEqual([])
  })

  it('does not count expired sessions', () => {
    const ids = [1, 2, 3].map(() => turn(newId()))
    for (const id of ids) turn(id)
    clock += 400 * DAY_MS
    expect(open().turns).toEqual([])
  })

  it('does not apply to a session that continues', () => {
    const ids = [1, 2, 3].map(() => turn(newId()))
    expect(open(ids[0]).id).toBe(ids[0])
    turn(ids[0] ?? '')
    expect(stored()).toEqual(ids)
  })
})

describe('a session whose first query is still running', () => {
  it('continues for its own caller only', () => {
    const { id } = open()
    running(id)
    expect(open(id)).toEqual({ id, turns: [] })
    expect(open(id, EVE).id).not.toBe(id)
  })

  it('continues even if the quota is reached', () => {
    const ids = [1, 2, 3].map(() => newId())
    for (const id of ids) running(id)
    expect(open(ids[2]).id).toBe(ids[2])
    expect(() => open()).toThrow(full)
  })
})
