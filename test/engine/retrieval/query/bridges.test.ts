import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { PassageCache } from '../../../../src/engine/knowledge/derived/passage.js'
import { type BridgeRequest, findBridges } from '../../../../src/engine/retrieval/query/deep.js'
import type { Read } from '../../../../src/engine/store/program.js'
import { openSmallStore, type SmallStore } from '../../../helpers/store.js'

let store: SmallStore
beforeAll(async () => {
  store = await openSmallStore()
  store.run('PRAGMA foreign_keys = OFF')
})
afterAll(() => store.end())
beforeEach(() => store.run('DELETE FROM graph_mentions'))

/** Inserts mentions of an entity in these nodes. */
function mention(entity: number, ...nodes: number[]): void {
  const columns = store.rows<{ name: string; type: string; required: number }>(
    `SELECT name, type, "notnull" required FROM pragma_table_info('graph_mentions')`,
  )
  const others = columns.filter(({ name, required }) => required === 1 && name !== 'node_key' && name !== 'entity_key')
  for (const node of nodes)
    store.run(
      `INSERT INTO graph_mentions (entity_key, node_key${others.map(({ name }) => `, ${name}`).join('')})
       VALUES (?, ?${others.map(({ type }) => (type === 'TEXT' ? `, ''` : ', 1')).join('')})`,
      ...[entity, node],
    )
}

const TEXTS: Record<number, string> = {
  1: 'The lamp of Brest.',
  2: 'The iron of Lyon.',
  3: 'The lamp and the iron.',
  4: 'The lamp.',
  5: 'Nothing of it.',
}

/** A database read that returns these passages by key. */
function* shown(passages: [number, string, string?][]): Read<Map<number, { title: string; body: string }>> {
  return new Map(passages.map(([key, body, title = '']) => [key, { title, body }]))
}

function bridges(seeds: number[], more: Partial<BridgeRequest> = {}) {
  const request: BridgeRequest = {
    ...{ seeds, terms: ['lamp', 'iron'], idf: () => 2, cache: new PassageCache(), late: () => false, denied: [] },
    load: (keys) => shown(keys.flatMap((key) => (TEXTS[key] === undefined ? [] : [[key, TEXTS[key]]]))),
    ...more,
  }
  return store.db.now(findBridges(request))
}
const score = (found: ReturnType<typeof bridges>, key: number) => found.find((one) => one.key === key)?.score

/** Weight of a name that this number of passages mentions. */
const strength = (mentions: number) => 1 / Math.log2(1 + mentions)

describe('the second hop of mode deep', () => {
  it('leads from a found passage to other passages that mention the same name', () => {
    mention(70, 1, 2)
    mention(71, 3, 4)
    expect(bridges([1]).map(({ key }) => key)).toEqual([2])
    expect(bridges([2]).map(({ key }) => key)).toEqual([1])
    expect(bridges([5])).toEqual([])
    expect(bridges([])).toEqual([])
  })

  it('scores a passage by the part of the question it adds and the rarity of the shared name', () => {
    mention(70, 1, 2, 4)
    const found = bridges([1])
    expect(score(found, 2)).toBeCloseTo(strength(3) * (0.1 + 0.5), 10)
    expect(score(found, 4)).toBeCloseTo(strength(3) * 0.1, 10)
    expect(found.map(({ key }) => key)).toEqual([2, 4])
    const idf = (term: string) => (term === 'iron' ? 9 : 1)
    expect(score(bridges([1], { idf }), 2)).toBeCloseTo(strength(3) * (0.1 + 0.9), 10)
    expect(score(bridges([1], { terms: ['lamp', 'iron', 'iron'] }), 2)).toBeCloseTo(strength(3) * 0.6, 10)
    expect(bridges([1], { idf: () => -1 })).toEqual([])
  })

  it('scores a passage by the rank of the passage it starts from, and takes the best of several paths', () => {
    mention(70, 1, 2)
    mention(71, 4, 3)
    const found = bridges([4, 1])
    expect(score(found, 3)).toBeCloseTo(strength(2) * (0.1 + 0.5), 10)
    expect(score(found, 2)).toBeCloseTo((strength(2) * (0.1 + 0.5)) / 1.5, 10)
    mention(72, 4, 2)
    expect(score(bridges([4, 1]), 2)).toBeCloseTo(strength(2) * (0.1 + 0.5), 10)
  })

  it('puts the older of two passages with equal scores first', () => {
    TEXTS[8] = TEXTS[9] = 'The iron.'
    mention(70, 1, 9, 8)
    expect(bridges([1]).map(({ key }) => key)).toEqual([8, 9])
  })

  it('leads to an already found passage if another passage leads there', () => {
    mention(70, 1, 2)
    expect(
      bridges([1, 2])
        .map(({ key }) => key)
        .sort(),
    ).toEqual([1, 2])
  })

  it('ignores a name that occurs in more than 24 passages', () => {
    const many = (count: number) => Array.from({ length: count }, (_, n) => 100 + n)
    mention(70, 1, 2, ...many(22))
    expect(bridges([1]).map(({ key }) => key)).toEqual([2])
    expect(score(bridges([1]), 2)).toBeCloseTo(strength(24) * 0.6, 10)
    mention(70, 200)
    expect(bridges([1])).toEqual([])
  })

  it('follows at most 24 names of a passage', () => {
    for (let n = 0; n < 30; n++) {
      TEXTS[300 + n] = 'The iron.'
      mention(500 + n, 1, 300 + n)
    }
    expect(bridges([1])).toHaveLength(24)
  })

  it('loads at most 160 passages, those with the rarest names', () => {
    for (let n = 0; n < 10; n++)
      for (let m = 0; m < 20; m++) {
        TEXTS[1000 + 20 * n + m] = 'The iron.'
        mention(500 + n, 1000 + 20 * n + m)
      }
    for (let n = 0; n < 10; n++) mention(500 + n, 1)
    mention(600, 1, 2)
    const found = bridges([1])
    expect(found).toHaveLength(160)
    expect(found[0]?.key).toBe(2)
    expect(Math.max(...found.map(({ key }) => key))).toBe(1158)
  })

  it('omits passages that the reader may not read', () => {
    mention(70, 1, 2, 3)
    expect(bridges([1], { load: () => shown([[1, 'The lamp of Brest.']]) })).toEqual([])
    // The terms of an invisible first passage are unknown.
    expect(score(bridges([1], { load: () => shown([[3, 'The lamp and the iron.']]) }), 3)).toBeCloseTo(
      strength(3) * 1.1,
      10,
    )
  })

  it('stops when its time limit is reached', () => {
    mention(70, 1, 2)
    mention(71, 4, 3)
    let looks = 0
    expect(bridges([1, 4], { late: () => ++looks > 1 }).map(({ key }) => key)).toEqual([2])
    expect(bridges([1, 4], { late: () => true })).toEqual([])
  })

  it('counts terms of titles like terms of the text', () => {
    mention(70, 1, 2)
    const load = () =>
      shown([
        [1, 'Nothing.'],
        [2, 'Nothing.', 'Iron'],
      ])
    expect(score(bridges([1], { load }), 2)).toBeCloseTo(strength(2) * 0.6, 10)
  })
})
