import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Caller } from '../../../src/engine/base/caller.js'
import { permissionLimit, recall, withheldEntry } from '../../../src/engine/query/withheld.js'
import type { SpaceRow } from '../../../src/engine/rows/spaces.js'
import type { SearchRequest } from '../../../src/engine/search/ports.js'
import { ADA } from '../../helpers/engine.js'
import { openSmallStore, passages, type SmallStore } from '../../helpers/store.js'
import { admitted, finding, keysOf, never, publish, restrict } from './small-space.js'

const EVE: Caller = { ...ADA, subject: 'eve' }

describe('what the scopes of sources keep from a reader', () => {
  const profile = (scoreThreshold = 0) => ({ scoreThreshold }) as Parameters<typeof permissionLimit>[2]
  const best = { final: 0.5, coverage: 0.5, withheld: true }

  it('is nothing where nothing was left out', () => {
    expect(permissionLimit(0, best, profile())).toBeUndefined()
  })

  it('may rank first, and may be near the question', () => {
    expect(permissionLimit(2, best, profile())).toEqual({ filtered: 2, better: true, near: true })
    expect(permissionLimit(2, { ...best, withheld: false }, profile())).toEqual({
      ...{ filtered: 2, better: false, near: false },
    })
    expect(permissionLimit(2, { ...best, final: 0.49 }, profile())).toMatchObject({ better: true, near: false })
    expect(permissionLimit(2, { ...best, coverage: 0.49 }, profile())).toMatchObject({ better: true, near: false })
    expect(permissionLimit(2, undefined, profile())).toEqual({ filtered: 2, better: false, near: false })
  })

  it('does not rank where it would be left out for its score', () => {
    expect(permissionLimit(1, best, profile(0.5))).toMatchObject({ better: true, near: true })
    expect(permissionLimit(1, best, profile(0.6))).toMatchObject({ better: false, near: false })
  })

  it('is told by how many they are', () => {
    expect(withheldEntry({ filtered: 3, better: true, near: false })).toEqual({
      reason: 'permission-filtered',
      text: '3 passages were left out, whose sources you may not read',
      metadata: { filtered: 3, better: true },
    })
    expect(withheldEntry({ filtered: 1, better: true, near: false }).text).toBe(
      '1 passage was left out, whose sources you may not read',
    )
  })
})

describe('what both indexes find', () => {
  let store: SmallStore
  let space: SpaceRow
  let keys: Map<string, number>
  beforeAll(async () => {
    store = await openSmallStore()
  })
  afterAll(() => store.end())
  beforeEach(async () => {
    space = store.space()
    await publish(store, space, {
      'open.md': passages('Open one.', 'Open two.'),
      'shut.md': passages('Shut one.', 'Shut two.'),
    })
    restrict(store, space, ['shut.md'], 'eve')
    keys = keysOf(store, space)
  })

  const REQUEST: SearchRequest = { terms: ['one'], textK: 2, vectorK: 2 } as SearchRequest
  const key = (text: string) => keys.get(text) ?? -1
  const hits = (...texts: string[]) => texts.map((text) => ({ key: key(text), bm25: 1 }))
  const ask = (caller = ADA, more: Partial<SearchRequest> = {}, docs?: number[]) =>
    recall(
      store.context,
      { ...admitted(store, space, { caller }), ...(docs ? { docs } : {}) },
      { ...REQUEST, ...more },
      never,
    )
  const of = (found: readonly { key: number }[]) =>
    found.map((one) => [...keys].find(([, known]) => known === one.key)?.[0])
  const documents = () =>
    store.rows<{ key: number; filename: string }>(
      'SELECT key, filename FROM documents WHERE space_key = ? ORDER BY key',
      space.key,
    )
  const openDocument = () => documents()[0]?.key ?? -1

  it('is shown where the snapshot shows it, and read where its reader may', async () => {
    const asked = finding(store, () => [...hits('Open one.'), { key: 9999, bm25: 1 }])
    const found = await ask()
    expect(of(found.recalled)).toEqual(['Open one.'])
    expect(of(found.permitted)).toEqual(['Open one.'])
    expect(found).toMatchObject({ hidden: 1, denied: new Set() })
    expect(asked).toEqual([{ ...REQUEST, seq: admitted(store, space).seq }])
  })

  it('is not what was published after the snapshot, or is gone since', async () => {
    const early = admitted(store, space)
    await publish(store, space, { 'late.md': 'Late one.' })
    keys = keysOf(store, space)
    finding(store, () => hits('Open one.', 'Late one.'))
    expect((await recall(store.context, early, REQUEST, never)).hidden).toBe(1)
    expect((await ask(EVE)).hidden).toBe(0)
  })

  it('is asked for once more among what may be read, where the rest took its places', async () => {
    const asked = finding(store, (_, call) =>
      call === 1
        ? {
            hits: hits('Shut one.', 'Open one.'),
            textCount: 2,
            textMs: 3,
            vectorMs: 5,
            vectorCount: 1,
            degraded: ['a'],
          }
        : { hits: hits('Open one.', 'Open two.'), textCount: 2, textMs: 4, vectorMs: 6, degraded: ['a', 'b'] },
    )
    const found = await ask()
    expect(asked.map(({ docs }) => docs)).toEqual([undefined, [openDocument()]])
    expect(of(found.permitted)).toEqual(['Open one.', 'Open two.'])
    expect(of(found.recalled)).toEqual(['Open one.', 'Open two.', 'Shut one.'])
    expect(found.denied).toEqual(new Set([key('Shut one.')]))
    expect(found.found).toMatchObject({ textCount: 4, vectorCount: 1, textMs: 7, vectorMs: 11, degraded: ['a', 'b'] })
  })

  it.each([
    ['nothing is withheld', EVE, 2, 0],
    ['no leg was full', ADA, 1, 1],
  ])('is asked for once where %s', async (_, caller, textCount, vectorCount) => {
    const asked = finding(store, () => ({ hits: hits('Shut one.', 'Open one.'), textCount, vectorCount }))
    const found = await ask(caller)
    expect(asked).toHaveLength(1)
    expect(of(found.recalled)).toEqual(['Shut one.', 'Open one.'])
    expect(of(found.permitted)).toEqual(caller === EVE ? ['Shut one.', 'Open one.'] : ['Open one.'])
  })

  it('is asked for once more where the vectors alone were full', async () => {
    const asked = finding(store, () => ({ hits: hits('Shut one.', 'Open one.'), textCount: 0, vectorCount: 2 }))
    await ask()
    expect(asked).toHaveLength(2)
  })

  it('is asked for once where enough of it may be read', async () => {
    await publish(store, space, { 'many.md': passages(...Array.from({ length: 30 }, (_, n) => `Many ${n}.`)) })
    keys = keysOf(store, space)
    const many = (count: number) => Array.from({ length: count }, (_, n) => `Many ${n}.`)
    let count = 30
    const asked = finding(store, () => hits('Shut one.', ...many(count)))
    await ask()
    expect(asked).toHaveLength(1)
    count = 29
    await ask()
    expect(asked).toHaveLength(3)
  })

  it('stays within the documents that were asked for', async () => {
    const [open, shut] = documents().map((one) => one.key)
    const asked = finding(store, () => hits('Shut one.', 'Open one.'))
    await ask(ADA, { docs: [shut ?? -1] })
    expect(asked.map(({ docs }) => docs)).toEqual([[shut], []])
    asked.length = 0
    await ask(ADA, { docs: [open ?? -1, shut ?? -1] })
    expect(asked[1]?.docs).toEqual([open])
  })

  it("is nobody's where the query was abandoned", async () => {
    const gone = new AbortController()
    finding(store, () => {
      gone.abort(new Error('gone'))
      return []
    })
    await expect(recall(store.context, admitted(store, space), REQUEST, gone.signal)).rejects.toThrow('gone')
  })
})
