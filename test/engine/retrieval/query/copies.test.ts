import { afterAll, beforeAll, expect, it } from 'vitest'
import { PassageCache } from '../../../../src/engine/knowledge/derived/passage.js'
import { removeCopies } from '../../../../src/engine/retrieval/query/copies.js'
import { retrieveFast } from '../../../../src/engine/retrieval/query/fast.js'
import { openSmallStore, passages, type SmallStore } from '../../../helpers/store.js'
import { admitted, finding, never, publish } from './small-space.js'

const row = (filename: string, more: Partial<Parameters<typeof of>[0]> = {}) => of({ filename, ...more })
const of = (one: {
  filename: string
  body?: string
  section?: string
  title?: string
  date?: string
  at?: number
}) => ({
  ...{ filename: one.filename, body: one.body ?? 'The pool opens at nine.', section: one.section ?? '[]' },
  ...{ document_title: one.title ?? one.filename, document_date: one.date ?? null, published_at: one.at ?? 0 },
})
const kept = (...rows: ReturnType<typeof of>[]) => {
  const loaded = new Map(rows.map((one, key) => [key, one]))
  const { kept, copyOf } = removeCopies(
    [...rows.keys()].map((key) => ({ key, rank: key })),
    loaded,
    ['pool', 'gym'],
  )
  return { kept: kept.map(({ key, rank }) => [rows[key]?.filename, rank]), copyOf: [...copyOf] }
}

it('removing copies keeps the copy outside of folders for old files, at the best rank of its copies', () => {
  const found = kept(row('old/pool.md', { at: 9 }), row('gym.md'), row('a/Backups/pool.md', { at: 8 }), row('pool.md'))
  expect(found).toEqual({
    kept: [
      ['pool.md', 0],
      ['gym.md', 1],
    ],
    copyOf: [
      [2, 3],
      [0, 3],
    ],
  })
})

it('removing copies keeps the newest copy, by the date of the document before that of its publication', () => {
  expect(kept(row('v1/pool.md', { date: '2023-01-01' }), row('v2/pool.md', { date: '2024-01-01' })).kept).toEqual([
    ['v2/pool.md', 0],
  ])
  expect(kept(row('archive/a.md', { title: 'Pool' }), row('backup/b.md', { title: 'Pool', at: 1 })).kept).toEqual([
    ['backup/b.md', 0],
  ])
})

it('removing copies keeps equal passages of other documents or sections, and passages that are not loaded', () => {
  expect(kept(row('pool.md'), row('gym.md'), row('b/pool.md', { section: '["Gym"]' })).kept).toHaveLength(3)
  expect(removeCopies([{ key: 1 }, { key: 2 }], new Map(), []).kept).toHaveLength(2)
})

it('removing copies merges longer texts with the same words, unless the question names one of their documents', () => {
  const body = 'Breakfast is served on the ground floor from seven to ten, on Sundays from eight.'
  const rows = [row('gym.md', { body }), row('pool.md', { body: body.replaceAll(',', ' –').toUpperCase() })]
  const other = [row('lobby.md', { body }), row('roof.md', { body: body.replace('ten', 'nine') })]
  expect(kept(...rows).kept).toHaveLength(2)
  expect(kept(rows[0] ?? row(''), ...other)).toEqual({
    kept: [
      ['gym.md', 0],
      ['lobby.md', 1],
      ['roof.md', 2],
    ],
    copyOf: [],
  })
  expect(kept(...other, row('hall.md', { body }))).toMatchObject({ copyOf: [[2, 0]] })
})

let store: SmallStore
beforeAll(async () => {
  store = await openSmallStore()
})
afterAll(() => store.end())

it('retrieval fills topK with different passages instead of copies of a passage', async () => {
  const space = store.createSpace()
  const [pool, fee] = ['The pool opens at nine.', 'The pool costs four euros.']
  await publish(store, space, { 'old/pool.md': passages(pool), 'pool.md': passages(pool), 'fee.md': passages(fee) })
  const keys = store.rows<{ key: number }>('SELECT key FROM nodes WHERE space_key = ? ORDER BY key', space.key)
  finding(store, () => keys.map(({ key }, index) => ({ key, bm25: 3 - index })))
  const asked = admitted(store, space, { profile: { topK: 2 } })
  const found = await retrieveFast(
    {
      ...{ context: store.context, cache: new PassageCache(), admitted: asked, query: 'when does the pool open' },
      ...{ signal: never, observer: {} },
    },
    { embedded: undefined },
  )
  expect(found.ranked.map(({ passage }) => passage.filename).sort()).toEqual(['fee.md', 'pool.md'])
  expect(found.ranked.flatMap(({ alsoIn = [] }) => alsoIn)).toMatchObject([{ filename: 'old/pool.md' }])
})
