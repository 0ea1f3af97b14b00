import { readdirSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { scanRows } from '../../../src/engine/search/exact-scan.js'
import type { GraphLimits } from '../../../src/engine/search/graph-keeper.js'
import { VectorIndex } from '../../../src/engine/search/vector-index.js'
import { LIVE, VectorRows } from '../../../src/engine/search/vector-rows.js'
import { clusteredVectors, normal, seeded, unit } from './random.js'

const DIMENSION = 48
const VECTOR_SPACE = 'test/vectors'
const never: Partial<GraphLimits> = { graphFrom: Number.MAX_SAFE_INTEGER }
const small: Partial<GraphLimits> = { graphFrom: 500, staleFrom: 200, settleMs: 20 }

let dir = ''
const open: VectorIndex[] = []

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'ks-vectors-'))
})
afterEach(async () => {
  for (const index of open.splice(0)) index.close()
  removeFolder(dir)
})

function make(limits: Partial<GraphLimits>, log: (message: string) => void = () => {}, isSketched = true): VectorIndex {
  const index = new VectorIndex({ dir, vectorSpace: VECTOR_SPACE, dimension: DIMENSION, limits, log, isSketched })
  open.push(index)
  return index
}

const entries = (vectors: Float32Array[], firstKey = 1) =>
  vectors.map((vector, i) => ({ key: firstKey + i, doc: ((firstKey + i) % 20) + 1, vector }))

async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 15_000
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('waited too long')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** The expected result: compares every vector, best first. */
function nearest(all: Map<number, Float32Array>, query: Float32Array, k: number): number[] {
  return [...all]
    .map(([key, vector]) => ({ key, score: vector.reduce((sum, value, i) => sum + value * query[i]!, 0) }))
    .sort((a, b) => b.score - a.score)
    .slice(0, k)
    .map(({ key }) => key)
}

/** The contract with and without a graph. `ready` waits until the tested kind of search is in use. */
function runVectorSuite(
  name: string,
  limits: Partial<GraphLimits>,
  ready: (index: VectorIndex) => Promise<void>,
  minRecall: number,
  isSketched = true,
): void {
  describe(`vector search: ${name}`, () => {
    it(`finds at least ${minRecall} of the ten nearest vectors, even after additions and removals`, async () => {
      const random = seeded(7)
      const vectors = clusteredVectors(1_500, DIMENSION, 30, random)
      const truth = new Map(vectors.map((vector, i) => [i + 1, vector]))
      const index = make(limits, undefined, isSketched)
      index.put(entries(vectors), 'change')
      await ready(index)
      const check = async () => {
        let found = 0
        for (let i = 0; i < 60; i++) {
          const query = unit(
            (vectors[(i * 37) % vectors.length] ?? new Float32Array()).map((v) => v + 0.1 * normal(random)),
          )
          const expected = nearest(truth, query, 10)
          const { keys } = await index.search(query, 10)
          expect(keys).toHaveLength(10)
          expect(keys.every((key) => truth.has(key))).toBe(true)
          found += expected.filter((key) => keys.includes(key)).length
        }
        return found / 600
      }
      expect(await check()).toBeGreaterThanOrEqual(minRecall)

      const removed = Array.from({ length: 150 }, (_, i) => i * 7 + 1)
      index.remove(removed)
      for (const key of removed) truth.delete(key)
      const added = clusteredVectors(100, DIMENSION, 30, random)
      index.put(entries(added, 5_000), 'change')
      added.forEach((vector, i) => {
        truth.set(5_000 + i, vector)
      })
      expect(await check()).toBeGreaterThanOrEqual(minRecall)
    })

    it('finds only vectors of the filtered documents', async () => {
      const vectors = clusteredVectors(800, DIMENSION, 10, seeded(3))
      const index = make(limits, undefined, isSketched)
      index.put(entries(vectors), 'change')
      await ready(index)
      const query = vectors[5] ?? new Float32Array(DIMENSION)
      const { keys } = await index.search(query, 1_000, [3, 4])
      expect(keys).toHaveLength(80)
      expect(keys.every((key) => [3, 4].includes((key % 20) + 1))).toBe(true)
      expect((await index.search(query, 10, [999])).keys).toEqual([])
    })

    it('replaces the old vector of a node by its changed vector', async () => {
      const vectors = clusteredVectors(800, DIMENSION, 10, seeded(5))
      const index = make(limits, undefined, isSketched)
      index.put(entries(vectors), 'change')
      await ready(index)
      const moved = unit(Float32Array.from({ length: DIMENSION }, (_, i) => (i === 0 ? 1 : 0)))
      index.put([{ key: 17, doc: 1, vector: moved }], 'change')
      expect((await index.search(moved, 1)).keys).toEqual([17])
      expect(index.cosine(moved, 17)).toBeCloseTo(1, 3)
      expect(index.count).toBe(800)
      const { keys } = await index.search(moved, 800)
      expect(keys.filter((key) => key === 17)).toHaveLength(1)
    })

    it('returns fewer than k hits from a smaller index, and none from an empty one', async () => {
      const index = make(limits, undefined, isSketched)
      expect((await index.search(new Float32Array(DIMENSION), 10)).keys).toEqual([])
      const vectors = clusteredVectors(700, DIMENSION, 5, seeded(9))
      index.put(entries(vectors), 'change')
      await ready(index)
      expect((await index.search(vectors[0] ?? new Float32Array(), 1_000)).keys).toHaveLength(700)
      index.remove(Array.from({ length: 700 }, (_, i) => i + 1))
      expect((await index.search(vectors[0] ?? new Float32Array(), 10)).keys).toEqual([])
    })
  })
}

runVectorSuite('exact', never, async () => {}, 1)
runVectorSuite('exact without sketches', never, async () => {}, 1, false)
runVectorSuite('hnsw', small, (index) => until(() => index.graphCount >= 700), 0.98)

describe('exact vector search with sketches', () => {
  it.each([1, 3, 16, 17, 100, 384])('finds the same scores as without sketches at %i dimensions', async (dimension) => {
    const random = seeded(dimension)
    const kinds = [
      () => unit(Float32Array.from({ length: dimension }, () => normal(random))),
      // One large number makes a coarse sketch; a row of zeros has none.
      () => unit(Float32Array.from({ length: dimension }, (_, i) => (i === 0 ? 20 : normal(random)))),
      () => new Float32Array(dimension),
      () => unit(new Float32Array(dimension).fill(1).map((value) => value + 0.001 * normal(random))),
    ]
    const vectors = Array.from({ length: 5_000 }, (_, i) => kinds[i % kinds.length]!())
    const rows = new VectorRows(dimension)
    const plain = new VectorRows(dimension, { isSketched: false })
    vectors.forEach((vector, i) => {
      rows.put({ key: i, doc: i % 7, vector })
      plain.put({ key: i, doc: i % 7, vector })
    })
    expect(rows.sketch !== undefined).toBe(true)
    const allow = new Uint8Array(5_000).map((_, i) => (i % 3 === 0 ? 1 : 0))
    for (const filter of [
      { mask: LIVE, wanted: LIVE },
      { mask: LIVE, wanted: LIVE, allow },
    ]) {
      for (const k of [1, 10, 100]) {
        const query = kinds[k % kinds.length]!()
        const [fast, slow] = await Promise.all([rows, plain].map((store) => scanRows(store, query, k, filter)))
        const scores = (top: typeof fast) => Array.from(top!.scores.subarray(0, top!.size)).sort((a, b) => a - b)
        expect(scores(fast)).toEqual(scores(slow))
      }
    }
  })
})

describe('the vector graph', () => {
  async function built(vectors: Float32Array[], log?: (message: string) => void): Promise<VectorIndex> {
    const index = make(small, log)
    index.put(entries(vectors), 'change')
    await until(() => index.graphCount === vectors.length)
    return index
  }

  const graphPath = async (file: string) => {
    const [name] = (await readdir(dir)).filter((entry) => entry.startsWith('graph-'))
    return join(dir, name ?? '', file)
  }

  async function reload(vectors: Float32Array[], change: () => Promise<void>) {
    const index = await built(vectors)
    index.close()
    await change()
    const messages: string[] = []
    const next = make({ ...small, graphFrom: 1_000_000 }, (message) => messages.push(message))
    await next.beginLoad()
    return { next, messages }
  }

  it('includes vectors that are added later, and is rebuilt if many of its points are deleted', async () => {
    const vectors = clusteredVectors(600, DIMENSION, 10, seeded(1))
    const index = await built(vectors)
    index.put(entries(clusteredVectors(400, DIMENSION, 10, seeded(2)), 1_001), 'change')
    await until(() => index.graphCount === 1_000)
    index.remove(Array.from({ length: 300 }, (_, i) => i + 1))
    await until(() => index.graphCount === 700 && index.deadGraphPoints === 0)
    await until(() => readdirSync(dir).length === 1)
    index.put(entries(vectors.slice(0, 250)), 'change')
    await until(() => index.graphCount === 950)
    expect(index.rows.end).toBeLessThanOrEqual(1_000)
  })

  it('leaves only rows outside of it to an exact comparison, and includes them after a quiet period', async () => {
    const index = await built(clusteredVectors(600, DIMENSION, 10, seeded(1)))
    index.put(entries(clusteredVectors(20, DIMENSION, 10, seeded(2)), 1_001), 'change')
    index.put(entries(clusteredVectors(1, DIMENSION, 1, seeded(3)), 7), 'change')
    expect([...index.rows.outsideRuns()]).toEqual([600, 621])
    await until(() => index.graphCount === 620)
    expect([...index.rows.outsideRuns()]).toEqual([])
    expect(index.deadGraphPoints).toBe(1)
    index.remove([1_001])
    expect(index.deadGraphPoints).toBe(2)
    const manifest: { points: number } = JSON.parse(await readFile(await graphPath('MANIFEST.json'), 'utf8'))
    expect(manifest.points).toBe(600)
  })

  it('misses none of the best hits among 3,000 rows that it does not include yet', async () => {
    const index = make({ ...small, staleFrom: 5_000, settleMs: 60_000 })
    const vectors = clusteredVectors(600, DIMENSION, 10, seeded(1))
    index.put(entries(vectors), 'change')
    await until(() => index.graphCount === 600)
    const later = clusteredVectors(3_000, DIMENSION, 10, seeded(2))
    index.put(entries(later, 1_001), 'change')
    index.remove(Array.from({ length: 300 }, (_, i) => 1_001 + i * 10))
    const truth = new Map(later.map((vector, i) => [1_001 + i, vector]))
    for (let i = 0; i < 300; i++) truth.delete(1_001 + i * 10)
    for (const query of later.slice(0, 20)) {
      const { keys } = await index.search(query, 50)
      const best = nearest(truth, query, 10)
      const all = new Map([...truth, ...vectors.map((vector, i): [number, Float32Array] => [i + 1, vector])])
      const here = new Set(nearest(all, query, 50))
      expect(keys).toEqual(expect.arrayContaining(best.filter((key) => here.has(key))))
    }
  })

  it('finds 98 % of the hits of an exact comparison after 100 rounds of changes, and after a restart', async () => {
    const random = seeded(11)
    const vectors = clusteredVectors(600, DIMENSION, 10, random)
    const later = clusteredVectors(600, DIMENSION, 10, random)
    const truth = new Map(vectors.map((vector, i) => [i + 1, vector]))
    const index = await built(vectors)
    for (let round = 0; round < 100; round++) {
      const added = later.slice(round * 6, round * 6 + 6)
      index.put(entries(added, 10_000 + round * 6), 'change')
      added.forEach((vector, i) => {
        truth.set(10_000 + round * 6 + i, vector)
      })
      const gone = [...truth.keys()].filter(() => random() < 5 / truth.size)
      index.remove(gone)
      for (const key of gone) truth.delete(key)
      if (round % 10 === 0) await until(() => index.graphCount === truth.size)
    }
    await until(() => index.graphCount === truth.size && index.deadGraphPoints <= 240)
    const recall = async (of: VectorIndex) => {
      let found = 0
      for (const query of later.slice(0, 100)) {
        const { keys } = await of.search(query, 10)
        expect(keys.every((key) => truth.has(key))).toBe(true)
        found += nearest(truth, query, 10).filter((key) => keys.includes(key)).length
      }
      return found / 1_000
    }
    expect(await recall(index)).toBeGreaterThanOrEqual(0.98)
    index.close()
    const next = make(small)
    await next.beginLoad()
    next.put(
      [...truth].map(([key, vector]) => ({ key, doc: (key % 20) + 1, vector })),
      'replay',
    )
    next.endLoad()
    await until(() => next.graphCount === truth.size)
    expect(await recall(next)).toBeGreaterThanOrEqual(0.98)
  })

  it('answers searches after a restart, with only the vectors that the source still has', async () => {
    const vectors = clusteredVectors(600, DIMENSION, 10, seeded(4))
    const { next, messages } = await reload(vectors, async () => {})
    expect(messages).toEqual([])
    expect(next.graphCount).toBe(600)
    expect(next.count).toBe(0)
    const query = vectors[42] ?? new Float32Array()
    expect((await next.search(query, 1)).keys).toEqual([43])
    next.remove([43])
    // The source returns half precision; key 1 now has another vector, and 500 to 600 are removed.
    const rounded = entries(vectors)
      .slice(1, 499)
      .map((entry) => ({ ...entry, vector: entry.vector.map((v) => v + 1e-5) }))
    next.put(rounded, 'replay')
    next.put([{ key: 1, doc: 1, vector: unit(new Float32Array(DIMENSION).fill(1)) }], 'replay')
    next.endLoad()
    expect(next.count).toBe(498)
    expect(next.graphCount).toBe(497)
    expect((await next.search(query, 600)).keys).not.toContain(43)
    expect((await next.search(query, 600)).keys).toHaveLength(498)
    expect((await next.search(unit(new Float32Array(DIMENSION).fill(1)), 1)).keys).toEqual([1])
  })

  it('ignores removed or changed vectors in a late page of the source', async () => {
    const [a, b, c] = clusteredVectors(3, DIMENSION, 3, seeded(8))
    if (a === undefined || b === undefined || c === undefined) throw new Error('three vectors were made')
    const index = make(never)
    await index.beginLoad()
    index.remove([1])
    index.put([{ key: 2, doc: 1, vector: c }], 'change')
    index.put(entries([a, b]), 'replay')
    index.endLoad()
    expect(index.count).toBe(1)
    expect(index.cosine(c, 2)).toBeCloseTo(1, 3)
    expect(index.cosine(a, 1)).toBeUndefined()
  })

  it.each([
    ['one flipped bit', 'graph.hnsw', async (path: string) => flip(path, 0.5)],
    ['a flipped bit in the head', 'graph.hnsw', async (path: string) => flip(path, 0)],
    ['a cut file', 'graph.hnsw', async (path: string) => truncate(path, 1_000)],
    ['an empty file', 'graph.hnsw', async (path: string) => truncate(path, 0)],
    ['a missing file', 'graph.hnsw', async (path: string) => rm(path)],
    ['a flipped bit in the table of points', 'points.bin', async (path: string) => flip(path, 0.3)],
    ['a manifest that is no JSON', 'MANIFEST.json', async (path: string) => truncate(path, 20)],
  ])('does not load with %s: search is exact instead', async (_, file, damage) => {
    const vectors = clusteredVectors(520, DIMENSION, 10, seeded(6))
    const { next, messages } = await reload(vectors, async () => damage(await graphPath(file)))
    expect(messages).toHaveLength(1)
    expect(next.graphCount).toBe(0)
    next.put(entries(vectors), 'replay')
    next.endLoad()
    expect(await next.search(vectors[3] ?? new Float32Array(), 1)).toEqual({ keys: [4], method: 'exact' })
  })
})

async function flip(path: string, at: number): Promise<void> {
  const bytes = await readFile(path)
  const position = Math.floor(bytes.length * at) + 20
  bytes[position] = (bytes[position] ?? 0) ^ 4
  await writeFile(path, bytes)
}
