import { afterEach, beforeEach, expect, it } from 'vitest'
import { allocateNodeKeys } from '../../../../src/engine/ingest/compile/node-keys.js'
import { openSmallStore, type SmallStore } from '../../../helpers/store.js'

let store: SmallStore
beforeEach(async () => {
  store = await openSmallStore()
})
afterEach(() => store.end())

const last = () => store.rows<{ last: number }>('SELECT last FROM node_keys')[0]?.last ?? 0

it('row keys of passages are reserved in blocks, and no key is given twice', async () => {
  const before = last()
  expect(await allocateNodeKeys(store.context, 0)).toBe(0)
  expect(last()).toBe(before)
  const first = await allocateNodeKeys(store.context, 3)
  const after = last()
  expect([first, await allocateNodeKeys(store.context, 2), await allocateNodeKeys(store.context, 1)]).toEqual([
    before + 1,
    before + 4,
    before + 6,
  ])
  expect(last()).toBe(after)
  const many = await allocateNodeKeys(store.context, 5000)
  expect(many).toBeGreaterThan(after)
  expect(last()).toBe(many + 4999)
  const asked = await Promise.all(Array.from({ length: 4 }, () => allocateNodeKeys(store.context, 700)))
  const sorted = [...asked].sort((a, b) => a - b)
  expect(sorted[0]).toBeGreaterThan(many + 4999)
  for (const [place, key] of sorted.entries())
    if (place > 0) expect(key - (sorted[place - 1] ?? 0)).toBeGreaterThanOrEqual(700)
})
