import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Caller } from '../../../../src/engine/base/caller.js'
import type { AdmittedQuery } from '../../../../src/engine/retrieval/query/admission.js'
import { findReadingScope, type RecallScope, recall } from '../../../../src/engine/retrieval/query/recall.js'
import type { SearchRequest } from '../../../../src/engine/search/ports.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import { ADA } from '../../../helpers/engine.js'
import { openSmallStore, passages, type SmallStore } from '../../../helpers/store.js'
import { admitted, finding, keysOf, never, publish, restrict } from './small-space.js'

const EVE: Caller = { ...ADA, subject: 'eve' }

describe('a search of both indexes for a reader', () => {
  let store: SmallStore
  let space: SpaceRow
  let keys: Map<string, number>
  beforeAll(async () => {
    store = await openSmallStore()
  })
  afterAll(() => store.end())
  beforeEach(async () => {
    space = store.createSpace()
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
  const search = (at: AdmittedQuery, request: SearchRequest, reading: RecallScope, signal = never) =>
    recall({ context: store.context, admitted: at, signal }, request, reading)
  const ask = (caller = ADA, more: Partial<SearchRequest> = {}) => {
    const at = admitted(store, space, { caller })
    return search(at, { ...REQUEST, ...more }, { scope: store.db.now(findReadingScope(at)) })
  }
  const of = (found: readonly { key: number }[]) =>
    found.map((one) => [...keys].find(([, known]) => known === one.key)?.[0])
  const documents = () =>
    store.rows<{ key: number; filename: string }>(
      'SELECT key, filename FROM documents WHERE space_key = ? ORDER BY key',
      space.key,
    )

  it('returns only hits that the snapshot contains, and sends no scope for a reader of all documents', async () => {
    const asked = finding(store, () => [...hits('Open one.'), { key: 9999, bm25: 1 }])
    const found = await ask(EVE)
    expect(of(found.hits)).toEqual(['Open one.'])
    expect(found).toMatchObject({ hidden: 1 })
    expect(asked).toEqual([{ ...REQUEST, seq: admitted(store, space).seq }])
  })

  it('omits hits that were published after the snapshot', async () => {
    const early = admitted(store, space)
    await publish(store, space, { 'late.md': 'Late one.' })
    keys = keysOf(store, space)
    finding(store, () => hits('Open one.', 'Late one.'))
    expect((await search(early, REQUEST, {})).hidden).toBe(1)
    expect((await ask(EVE)).hidden).toBe(0)
  })

  it('searches and scores only the documents that the reader may read', async () => {
    const terms = ['open']
    const found = { hits: hits('Shut one.', 'Open one.'), textCount: 2, frequencies: new Map([['open', 2]]) }
    const asked = finding(store, () => found)
    const { found: scored, ...rest } = await ask(ADA, { terms })
    const [open, shut] = documents().map((one) => one.key)
    expect(asked).toMatchObject([{ textK: 1000, scope: { docs: [shut], isExcluded: true } }])
    expect(of(rest.hits)).toEqual(['Open one.'])
    expect(of(scored.hits)).toEqual(['Open one.'])
    expect([scored.textCount, rest.hidden]).toEqual([1, 0])
    // BM25 of the only candidate, over the two nodes of the reader, and not what the index says
    const idf = Math.log(1 + 0.5 / 2.5)
    expect(scored.hits[0]?.bm25).toBeGreaterThanOrEqual(idf)
    expect(scored.hits[0]?.bm25).toBeLessThan(2.2 * idf)
    finding(store, () => found)
    expect((await ask(EVE)).found.hits[0]?.bm25).toBe(1)
    await publish(store, space, { 'shut-too.md': 'More.' })
    restrict(store, space, ['shut-too.md'], 'eve')
    asked.length = 0
    const again = finding(store, () => found)
    await ask()
    expect(again[0]?.scope).toEqual({ docs: [open], isExcluded: false })
  })

  it('returns at most the requested number of text hits and of vector hits', async () => {
    await publish(store, space, {
      'many.md': passages(...Array.from({ length: 6 }, (_, n) => `${'One '.repeat(n + 1)}${n}.`)),
    })
    keys = keysOf(store, space)
    const all = [...keys].filter(([text]) => text.startsWith('One'))
    finding(store, () => ({
      hits: all.map(([, key], n) => ({ key, bm25: 1, cosine: n / 10 })),
      frequencies: new Map([['one', 6]]),
    }))
    const { found } = await ask(ADA, { vector: Float32Array.of(1) })
    expect(found.textCount).toBe(2)
    expect(found.hits.filter(({ bm25 }) => bm25 !== undefined)).toHaveLength(2)
    expect(found.hits.length).toBeLessThanOrEqual(4)
  })

  it('rejects if the query is aborted', async () => {
    const gone = new AbortController()
    finding(store, () => {
      gone.abort(new Error('gone'))
      return []
    })
    await expect(search(admitted(store, space), REQUEST, {}, gone.signal)).rejects.toThrow('gone')
  })
})
