import { crc32 } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { compileBatch } from '../../../../src/engine/ingest/compile/pipeline.js'
import { createReplaySource } from '../../../../src/engine/ingest/compile/replay.js'
import type { IndexBatch, ReplaySource } from '../../../../src/engine/search/ports.js'
import { FLOATS } from '../../../../src/engine/store/half.js'
import { logAdded } from '../../../../src/engine/store/rows/projection-log.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import {
  activateVectorSpace,
  insertTrainedVectorSpace,
  type VectorSpace,
} from '../../../../src/engine/store/rows/vector-spaces.js'
import { removeUnpublishedVersion } from '../../../../src/engine/store/rows/versions.js'
import { newId } from '../../../../src/lib/ids.js'
import { openSmallStore, passages, type SmallStore, vectorOf } from '../../../helpers/store.js'

const signal = new AbortController().signal

let store: SmallStore
let source: ReplaySource
beforeEach(async () => {
  store = await openSmallStore()
  source = createReplaySource(store.db)
})
afterEach(() => store.end())

async function publish(space: SpaceRow, files: Record<string, string>): Promise<number[]> {
  const works = await store.uploadAndClaim(space, files)
  await compileBatch(store.context, space, works, { signal })
  return works.map(({ document }) => document.key)
}

async function all<T>(batches: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const batch of batches) found.push(batch)
  return found
}

const head = async (space: SpaceRow) => (await source.head(space.id)).seq
const bodies = (batches: IndexBatch[]) => batches.flatMap(({ add }) => add.map(({ body }) => body))
/** The contents of an index that applied batches, starting empty or with given contents. */
function taken(batches: IndexBatch[], held = new Map<number, string>()): string[] {
  for (const { add, remove } of batches) {
    for (const { key, body } of add) held.set(key, body)
    for (const key of remove) held.delete(key)
  }
  return [...held.values()].sort()
}
const nodeKeys = (docKey: number) =>
  store.rows<{ key: number }>('SELECT key FROM nodes WHERE doc_key = ?', docKey).map(({ key }) => key)
/** An unpublished version that is in the log. */
function drop(docKey: number): void {
  store.run('UPDATE versions SET from_revision = NULL WHERE doc_key = ?', docKey)
  store.write(() => removeUnpublishedVersion(docKey, 1))
}

function model(space: SpaceRow, use = true): VectorSpace {
  return store.write(function* () {
    const made = yield* insertTrainedVectorSpace(
      space,
      newId(),
      { dimension: 2, bytes: new Uint8Array(1), trainedNodes: 30 },
      'gone',
    )
    if (use) yield* activateVectorSpace(space.key, made)
    return made
  })
}

describe('the index changes of a space', () => {
  it('list its current passages up to the newest entry when an index starts empty', async () => {
    const space = store.createSpace()
    const [a = 0, b = 0] = await publish(space, { 'a.md': passages('one', 'two'), 'b.md': 'three' })
    const [gone = 0] = await publish(space, { 'c.md': 'four' })
    drop(gone)
    const seq = await head(space)
    expect(seq).toBeGreaterThan(1)
    const batches = await all(source.changes(space.id, 0, seq))
    expect(batches.flatMap(({ add }) => add.map(({ doc, title, body }) => ({ doc, title, body })))).toEqual([
      { doc: a, title: 'a.md', body: 'one' },
      { doc: a, title: 'a.md', body: 'two' },
      { doc: b, title: 'b.md', body: 'three' },
    ])
    expect(batches.at(-1)?.seq).toBe(seq)
  })

  it('list the log entries after a given one in order, without passages that were removed again', async () => {
    const space = store.createSpace()
    await publish(space, { 'a.md': 'one' })
    const first = await head(space)
    const [b = 0] = await publish(space, { 'b.md': passages('two', 'three') })
    const keys = nodeKeys(b)
    const second = await head(space)
    await publish(space, { 'c.md': 'four' })
    drop(b)
    const last = await head(space)
    const behind = await all(source.changes(space.id, second, last))
    expect(bodies(behind)).toEqual(['four'])
    expect(behind.flatMap(({ remove }) => remove)).toEqual(keys)
    expect(behind.at(-1)?.seq).toBe(last)
    expect(behind.map(({ seq }) => seq)).toEqual([...behind.map(({ seq }) => seq)].sort((x, y) => x - y))
    expect(await all(source.changes(space.id, last, last))).toEqual([])
    // A passage that was added and removed again is not listed.
    expect(bodies(await all(source.changes(space.id, first, last)))).toEqual(['four'])
  })

  it('end with the log entry that was requested as the last one', async () => {
    const space = store.createSpace()
    await publish(space, { 'a.md': 'one' })
    const first = await head(space)
    await publish(space, { 'b.md': 'two' })
    const second = await head(space)
    await publish(space, { 'c.md': 'three' })
    const batches = await all(source.changes(space.id, first, second))
    expect(bodies(batches)).toEqual(['two'])
    expect(batches.at(-1)?.seq).toBe(second)
  })

  it('split a large log entry into batches, and an index that stops after one can resume without loss', async () => {
    const space = store.createSpace()
    await publish(space, { 'a.md': 'one' })
    const before = await head(space)
    const many = Array.from({ length: 1200 }, (_, n) => `passage ${n}`)
    await publish(space, { 'large.md': passages(...many) })
    const to = await head(space)
    for (const after of [0, before]) {
      const batches = await all(source.changes(space.id, after, to))
      expect(batches.length).toBeGreaterThan(1)
      expect(Math.max(...batches.map(({ add }) => add.length))).toBeLessThanOrEqual(500)
      expect(bodies(batches)).toEqual(after === 0 ? ['one', ...many] : many)
      expect(batches.at(-1)?.seq).toBe(to)
      // An index that stops after any batch and resumes from its number misses nothing.
      for (const stop of [1, batches.length - 1]) {
        const held = new Map<number, string>()
        taken(batches.slice(0, stop), held)
        const rest = await all(source.changes(space.id, batches[stop - 1]?.seq ?? 0, to))
        const expected = after === 0 ? ['one', ...many] : many
        expect(taken(rest, held)).toEqual([...expected].sort())
      }
    }
  })

  it('include each of several hundred log entries', async () => {
    const space = store.createSpace()
    const [key = 0] = await publish(space, { 'a.md': 'one' })
    const [node = 0] = nodeKeys(key)
    const first = await head(space)
    store.write(function* () {
      for (let n = 0; n < 450; n++) yield* logAdded(space.key, node, node)
    })
    const to = await head(space)
    expect(to).toBe(first + 450)
    const batches = await all(source.changes(space.id, first, to))
    expect(batches.map(({ seq }) => seq)).toEqual(Array.from({ length: 450 }, (_, n) => first + 1 + n))
  })

  it('exclude passages of other spaces, and an unknown space has no changes', async () => {
    const [space, other] = [store.createSpace(), store.createSpace()]
    await publish(space, { 'a.md': 'one' })
    await publish(other, { 'b.md': 'two' })
    expect(bodies(await all(source.changes(space.id, 0, await head(space))))).toEqual(['one'])
    expect(bodies(await all(source.changes(other.id, 0, await head(other))))).toEqual(['two'])
    expect(await all(source.changes(newId(), 0, 9))).toEqual([])
    expect(await all(source.changes(newId(), 1, 9))).toEqual([])
    expect(await source.head(newId())).toEqual({ seq: 0 })
    expect(await all(source.changes(store.createSpace().id, 0, 0))).toEqual([])
  })
})

describe('the vectors of a space', () => {
  it('can be read for one model, in the order of the passages, without passages of replaced versions', async () => {
    const space = store.createSpace()
    const old = model(space)
    const [a = 0, b = 0] = await publish(space, { 'a.md': passages('one', 'three'), 'b.md': 'four five' })
    const using = model(store.reload(space))
    const [c = 0] = await publish(space, { 'c.md': 'six' })
    const of = async (id: string) => {
      const batches = await all(source.vectors(space.id, id))
      return batches.flatMap(({ keys, docs, vectors, dimension }) =>
        keys.map((key, n) => {
          const halves = [...vectors.slice(n * dimension, (n + 1) * dimension)]
          return { key, doc: docs[n], vector: halves.map((half) => FLOATS[half] ?? 0) }
        }),
      )
    }
    const found = await of(old.id)
    expect(found.map(({ key, doc }) => ({ key, doc }))).toEqual([
      ...nodeKeys(a).map((key) => ({ key, doc: a })),
      ...nodeKeys(b).map((key) => ({ key, doc: b })),
    ])
    for (const [n, text] of ['a.md\none', 'a.md\nthree', 'b.md\nfour five'].entries())
      for (const [at, value] of vectorOf(text).entries()) expect(found[n]?.vector[at]).toBeCloseTo(value, 2)
    expect((await of(using.id)).map(({ doc }) => doc)).toEqual([c])
    store.run('UPDATE versions SET until_revision = 9 WHERE doc_key = ?', a)
    expect((await of(old.id)).map(({ doc }) => doc)).toEqual([b])
    expect(await of(newId())).toEqual([])
    expect(await all(source.vectors(store.createSpace().id, old.id))).toEqual([])
  })

  it('arrive completely in batches when there are many passages', async () => {
    const space = store.createSpace()
    const using = model(space)
    await publish(space, { 'large.md': passages(...Array.from({ length: 2100 }, (_, n) => `passage ${n}`)) })
    const batches = await all(source.vectors(space.id, using.id))
    expect(batches.length).toBeGreaterThan(1)
    const keys = batches.flatMap((batch) => batch.keys)
    expect(new Set(keys).size).toBe(2100)
    for (const batch of batches) expect(batch.vectors.length).toBe(batch.keys.length * batch.dimension)
  })
})

describe('the checksums of the vectors of a space', () => {
  it('match the bytes of the vectors, and the vectors of given passages can be read', async () => {
    const space = store.createSpace()
    const using = model(space)
    const [a = 0] = await publish(space, { 'a.md': passages('one', 'three'), 'b.md': 'four five' })
    const told = await all(source.vectorSums(space.id, using.id))
    const stored = await all(source.vectors(space.id, using.id))
    for (const [n, batch] of stored.entries()) {
      const sumAt = (place: number) =>
        crc32(
          Uint8Array.from(
            new Uint8Array(batch.vectors.slice(place * batch.dimension, (place + 1) * batch.dimension).buffer),
          ),
        )
      expect([...(told[n]?.keys ?? [])]).toEqual(batch.keys)
      expect([...(told[n]?.docs ?? [])]).toEqual(batch.docs)
      expect([...(told[n]?.sums ?? [])]).toEqual(batch.keys.map((_, place) => sumAt(place)))
    }
    const [first = 0, , last = 0] = stored.flatMap(({ keys }) => keys)
    const some = await all(source.vectorsOfNodes(space.id, using.id, [last, first, 999_999]))
    expect(some.flatMap(({ keys }) => keys)).toEqual([first, last])
    store.run('UPDATE versions SET until_revision = 9 WHERE doc_key = ?', a)
    expect((await all(source.vectorsOfNodes(space.id, using.id, [first]))).flatMap(({ keys }) => keys)).toEqual([])
    expect(await all(source.vectorsOfNodes(space.id, newId(), [last]))).toEqual([])
  })
})

describe('the expected contents of an index', () => {
  it('contain the id of the active model, and their counts equal a count of the rows', async () => {
    const space = store.createSpace()
    expect(await source.expectedCounts(space.id)).toEqual({ seq: 0, nodes: 0, vectors: 0 })
    expect(await source.countRows(space.id)).toEqual({ seq: 0, nodes: 0, vectors: 0 })
    await publish(space, { 'a.md': passages('one', 'two') })
    expect(await source.expectedCounts(space.id)).toEqual({ seq: await head(space), nodes: 2, vectors: 0 })
    expect(await source.head(space.id)).toEqual({ seq: await head(space) })
    const using = model(space)
    const [b = 0] = await publish(store.reload(space), { 'b.md': 'three' })
    const expected = { seq: await head(space), nodes: 3, vectors: 1, vectorSpace: using.id }
    expect(await source.expectedCounts(space.id)).toEqual(expected)
    expect(await source.countRows(space.id)).toEqual(expected)
    expect(await source.head(space.id)).toEqual({ seq: expected.seq, vectorSpace: using.id, dimension: 2 })
    expect(await source.expectedCounts(newId())).toEqual({ seq: 0, nodes: 0, vectors: 0 })
    expect(await source.countRows(newId())).toEqual({ seq: 0, nodes: 0, vectors: 0 })
    drop(b)
    expect(await source.countRows(space.id)).toMatchObject({ nodes: 2, vectors: 0 })
  })

  it('can be counted from the rows when the counters are wrong', async () => {
    const space = store.createSpace()
    model(space)
    await publish(store.reload(space), { 'a.md': passages(...Array.from({ length: 5100 }, (_, n) => `p ${n}`)) })
    store.run('UPDATE space_usage SET node_count = 7 WHERE space_key = ?', space.key)
    store.run('UPDATE vector_counts SET live = 8')
    expect(await source.expectedCounts(space.id)).toMatchObject({ nodes: 7, vectors: 8 })
    expect(await source.countRows(space.id)).toMatchObject({ nodes: 5100, vectors: 5100 })
  })
})
