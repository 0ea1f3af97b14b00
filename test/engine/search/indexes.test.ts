import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { createSearchIndexes, type SearchIndexesOptions } from '../../../src/engine/search/indexes.js'
import type { IndexedNode, SearchHits, SearchIndexes } from '../../../src/engine/search/ports.js'
import { loadTantivy } from '../../../src/engine/search/tantivy-binding.js'
import { FakeSource, followBatch, vectorBatch } from './fake-source.js'
import { clusteredVectors, seeded } from './random.js'

const SPACE = '0190a1b2-0000-7000-8000-000000000001'
const MODEL = 'test/model@1'
const DIMENSION = 16
const vectors = clusteredVectors(3_000, DIMENSION, 20, seeded(11))

let dir = ''
let source: FakeSource
let indexes: SearchIndexes
let messages: string[] = []

function start(options: Partial<SearchIndexesOptions> = {}): SearchIndexes {
  indexes = createSearchIndexes({
    dir,
    source,
    log: (message) => messages.push(message),
    graceMs: 5_000,
    watermarkLagMs: 0,
    ...options,
  })
  return indexes
}

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'ks-indexes-'))
  source = new FakeSource(MODEL, DIMENSION)
  messages = []
})
afterEach(async () => {
  await indexes.close()
  removeFolder(dir)
})

function node(key: number, body = `common passage number${key}`): IndexedNode {
  return { key, doc: (key % 10) + 1, title: `Title ${key}`, body, vector: vectors[key % vectors.length]! }
}

const nodes = (from: number, count: number) => Array.from({ length: count }, (_, i) => node(from + i))

function search(
  terms: string[],
  vector?: Float32Array,
  more: { docs?: number[]; k?: number } = {},
): Promise<SearchHits> {
  const { k = 10, docs } = more
  return indexes.search(SPACE, {
    terms,
    textK: k,
    vectorK: k,
    ...(vector === undefined ? {} : { vector, vectorSpace: MODEL }),
    ...(docs === undefined ? {} : { docs }),
  })
}

const keysOf = ({ hits }: SearchHits) => hits.map(({ key }) => key).sort((a, b) => a - b)

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Kills the process, and waits until its end was noticed. */
async function lost(): Promise<void> {
  const pid = indexes.pid()
  killed()
  await expect.poll(() => indexes.pid()).not.toBe(pid)
}

function killed(signal: NodeJS.Signals = 'SIGKILL'): void {
  const pid = indexes.pid()
  if (pid === undefined) return
  try {
    process.kill(pid, signal)
  } catch {
    // Gone already.
  }
}

async function untilStatus(
  condition: (status: Awaited<ReturnType<SearchIndexes['status']>>) => boolean,
): Promise<void> {
  const deadline = Date.now() + 15_000
  for (;;) {
    const status = await indexes.status(SPACE)
    if (condition(status)) return
    if (Date.now() > deadline) throw new Error(`waited too long: ${JSON.stringify(status)}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

describe.each(loadTantivy().binding === undefined ? ['fts5' as const] : ['tantivy' as const, 'fts5' as const])(
  'search indexes with %s',
  (textEngine) => {
    it('rebuild if their files are missing, older than the log, or ahead of the source', async () => {
      start({ textEngine })
      await followBatch(indexes, SPACE, source.commit(nodes(1, 50)))
      await indexes.close()

      await rm(join(dir, SPACE), { recursive: true })
      start({ textEngine })
      expect(keysOf(await search(['number7']))).toEqual([7])
      await indexes.close()

      source.commit([], [7])
      source.commit(nodes(100, 1))
      source.oldestSeq = 3
      start({ textEngine })
      expect(keysOf(await search(['number7', 'number100']))).toEqual([100])
      await indexes.close()

      const restored = new FakeSource(MODEL, DIMENSION)
      restored.commit(nodes(7, 1))
      source = restored
      start({ textEngine })
      expect(keysOf(await search(['number7', 'number100', 'number8']))).toEqual([7])
    })

    it('F08: survive twenty kills of their process during queries and changes without failures or losses', async () => {
      start({ textEngine })
      await followBatch(indexes, SPACE, source.commit(nodes(1, 300)))
      let running = true
      const failures: unknown[] = []
      let queries = 0
      const query = async () => {
        while (running) {
          await search(['common', `number${(queries % 300) + 1}`], vectors[queries % 300]).catch((error) =>
            failures.push(error),
          )
          queries++
        }
      }
      let applied = 0
      const change = async () => {
        while (running) {
          const from = 1_000 + applied * 5
          applied++
          await followBatch(indexes, SPACE, source.commit(nodes(from, 5), [applied])).catch((error) =>
            failures.push(error),
          )
        }
      }
      const work = [query(), query(), change()]
      let dead: number | undefined
      for (let i = 0; i < 20; i++) {
        // Each new process answers something before it is killed, each time at another point of its work.
        const queriesBefore = queries
        while (queries === queriesBefore || indexes.pid() === undefined || indexes.pid() === dead)
          await new Promise((resolve) => setTimeout(resolve, 5))
        await new Promise((resolve) => setTimeout(resolve, 7 * (i % 6)))
        dead = indexes.pid()
        killed()
      }
      const queriesBefore = queries
      await expect.poll(() => queries).toBeGreaterThan(queriesBefore)
      running = false
      await Promise.all(work)
      expect(failures).toEqual([])
      await untilStatus((status) => status.textCount === source.nodes.size && status.vectorCount === source.nodes.size)
      for (const key of source.nodes.keys()) {
        if (key % 17 === 0) expect(keysOf(await search([`number${key}`]))).toEqual([key])
      }
      expect(keysOf(await search(['number1']))).toEqual([])
      expect(queries).toBeGreaterThan(20)
      expect(messages.filter((message) => message.includes('SIGKILL')).length).toBe(20)
    }, 120_000)
  },
)

describe('search indexes', () => {
  it('lose nothing when changes are applied in another order than they were committed', async () => {
    start({ watermarkLagMs: 2_000 })
    await followBatch(indexes, SPACE, source.commit(nodes(1, 3)))
    const earlier = source.commit(nodes(10, 3))
    const later = source.commit(nodes(20, 3), [1])
    await followBatch(indexes, SPACE, later)
    await followBatch(indexes, SPACE, earlier)
    const all = [2, 10, 11, 12, 20, 21, 22, 3]
    expect(keysOf(await search(['common'], undefined, { k: 50 }))).toEqual(all.sort((a, b) => a - b))
    const never = source.commit(nodes(30, 1))
    expect(never.seq).toBe(4)
    await followBatch(indexes, SPACE, source.commit(nodes(40, 1)))
    await lost()
    expect(keysOf(await search(['number30', 'number40', 'number1']))).toEqual([30, 40])
  })

  it('let a query wait while vectors are loaded, and end the wait when its caller aborts', async () => {
    start()
    await followBatch(indexes, SPACE, source.commit(nodes(1, 100)))
    await indexes.settle(SPACE)
    await indexes.close()
    let pass = () => {}
    const untilPassed = new Promise<void>((resolve) => {
      pass = resolve
    })
    const stored = source.vectors.bind(source)
    source.vectors = async function* (...of) {
      await untilPassed
      yield* stored(...of)
    }
    start({ graceMs: 0, vectorsGraceMs: 60_000 })
    // The text is complete, so the search waits for vectors.
    await expect.poll(async () => (await indexes.status(SPACE)).degraded).toEqual(['vectors are being loaded'])
    // Nothing is missing in the space, so that its state is current.
    expect(await indexes.degradedReasons(SPACE)).toEqual([])
    const stop = new AbortController()
    const request = { terms: ['number7'], textK: 10, vector: vectors[7]!, vectorSpace: MODEL, vectorK: 10 }
    const left = indexes.search(SPACE, request, stop.signal)
    const first = indexes.search(SPACE, request)
    stop.abort(new Error('nobody waits'))
    await expect(left).rejects.toThrow('nobody waits')
    pass()
    expect((await first).degraded).toEqual([])
  })

  it('report vectors as still loading when the maximum wait is over', async () => {
    start()
    await followBatch(indexes, SPACE, source.commit(nodes(1, 100)))
    await indexes.settle(SPACE)
    await indexes.close()
    const stored = source.vectors.bind(source)
    let pass = () => {}
    const untilPassed = new Promise<void>((resolve) => {
      pass = resolve
    })
    source.vectors = async function* (...of) {
      await untilPassed
      yield* stored(...of)
    }
    start({ graceMs: 0, vectorsGraceMs: 1 })
    await expect
      .poll(async () => (await search(['number7'], vectors[7])).degraded)
      .toContain('vectors are being loaded')
    pass()
    await expect.poll(async () => (await search(['number7'], vectors[7])).degraded).toEqual([])
  })

  it('lose no change that arrives while the source fails', async () => {
    start()
    await followBatch(indexes, SPACE, source.commit(nodes(1, 10)))
    const working = source.head.bind(source)
    source.head = async () => {
      throw new Error('the database is busy')
    }
    await lost()
    await expect(followBatch(indexes, SPACE, source.commit(nodes(20, 10)))).rejects.toThrow('the database is busy')
    expect((await search(['number3'])).degraded.join()).toContain('the database is busy')
    source.head = working
    await followBatch(indexes, SPACE, source.commit(nodes(40, 10)))
    expect(keysOf(await search(['number3', 'number25', 'number45']))).toEqual([3, 25, 45])
  })

  it('load a vector space that is activated after the loss of the index process', async () => {
    start()
    await followBatch(indexes, SPACE, source.commit(nodes(1, 40)))
    const other = clusteredVectors(40, 8, 4, seeded(2))
    source.extra.set('next', new Map(other.map((vector, i) => [i + 1, vector])))
    await indexes.addVectors(SPACE, vectorBatch('next', [{ key: 1, doc: 1, vector: other[0]! }]))
    killed()
    source.vectorSpace = 'next'
    source.dimension = 8
    await indexes.activateVectors(SPACE, 'next')
    expect(await indexes.status(SPACE)).toMatchObject({ vectorSpace: 'next', vectorCount: 40 })
  })

  it('quarantine and rebuild the files of a space after repeated crashes of the index process', async () => {
    start()
    await followBatch(indexes, SPACE, source.commit(nodes(1, 50)))
    // A crash counts for a space only if the process was working for it; on a busy machine the first one may not count.
    for (let fault = 0; fault < 20 && !(await readdir(dir)).includes('quarantine'); fault++) {
      await search(['number1'])
      const asked = Array.from({ length: 20 }, () => search(['number3']).catch((error) => error))
      await new Promise((resolve) => setImmediate(resolve))
      killed('SIGSEGV')
      await Promise.all(asked)
      await new Promise((resolve) => setTimeout(resolve, 30))
    }
    const found = await search(['number3', 'number40'], vectors[5])
    expect(keysOf(found)).toEqual(expect.arrayContaining([3, 40]))
    expect(await indexes.status(SPACE)).toMatchObject({ textCount: 50, vectorCount: 50 })
    expect(await readdir(dir)).toContain('quarantine')
  })

  it('leave no index process behind when the daemon is killed', async () => {
    start()
    const script = `
      import { createSearchIndexes } from ${JSON.stringify(new URL('../../../dist/engine/search/indexes.js', import.meta.url).href)}
      const none = { head: async () => ({ seq: 0 }), inSpace: (_space, work) => work(), expectedCounts: async () => ({ seq: 0, nodes: 0, vectors: 0 }), countRows: () => none.expectedCounts(), oldestEntry: async () => 0, async *changes() {}, async *vectors() {} }
      const indexes = createSearchIndexes({ dir: ${JSON.stringify(join(dir, 'other'))}, source: none })
      await indexes.follow('space', 1, { first: 1, seq: 1, add: [{ key: 1, doc: 1, title: '', body: 'word' }], remove: [] })
      console.log(indexes.pid())
      setInterval(() => {}, 1000)`
    const daemon = execa(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
      buffer: false,
      reject: false,
    })
    const pid = await new Promise<number>((resolve) => daemon.stdout.once('data', (data) => resolve(Number(data))))
    expect(isAlive(pid)).toBe(true)
    daemon.kill('SIGKILL')
    const deadline = Date.now() + 10_000
    while (isAlive(pid) && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20))
    expect(isAlive(pid)).toBe(false)
  })

  it('use an HNSW graph above its minimum size, and load the same graph file after a kill', async () => {
    start({ graph: { graphFrom: 800, staleFrom: 200, settleMs: 20 } })
    await followBatch(indexes, SPACE, source.commit(nodes(1, 1_000)))
    await untilStatus((status) => status.graphCount === 1_000)
    expect(await search(['number5'], vectors[77])).toMatchObject({ vectorMethod: 'hnsw', degraded: [] })
    const before = (await readdir(join(dir, SPACE))).filter((name) => name.startsWith('graph-'))
    killed()
    const after = await search([], vectors[77])
    expect(after.hits.find(({ key }) => key === 77)?.cosine).toBeCloseTo(1, 3)
    await untilStatus((status) => status.vectorCount === 1_000 && status.graphCount === 1_000)
    expect((await readdir(join(dir, SPACE))).filter((name) => name.startsWith('graph-'))).toEqual(before)
  })

  it('load vectors from the graph file after a restart, and only changed vectors from the source', async () => {
    start({ graph: { graphFrom: 800, staleFrom: 200, settleMs: 20 } })
    await followBatch(indexes, SPACE, source.commit(nodes(1, 1_000)))
    await untilStatus((status) => status.graphCount === 1_000)
    await indexes.close()
    // While the indexes are closed: one node is removed, one is new, and one has the vector of another.
    const [fifth, last] = [source.nodes.get(5), source.nodes.get(1_000)]
    const batch = source.commit([...nodes(1_001, 1), { ...fifth!, vector: last!.vector! }], [7])
    // The log of a database contains no vectors.
    source.log.splice(-1, 1, { ...batch, add: batch.add.map(({ vector: _, ...node }) => node) })
    source.sent = []
    start({ graph: { graphFrom: 800, staleFrom: 200, settleMs: 20 } })
    await indexes.settle(SPACE)
    expect(source.sent.sort((a, b) => a - b)).toEqual([5, 1_001])
    expect(await indexes.status(SPACE)).toMatchObject({ vectorCount: 1_000, degraded: [] })
    const near = async (key: number) => (await search([], vectors[key])).hits.find((hit) => hit.key === key)?.cosine
    expect(await near(77)).toBeCloseTo(1, 3)
    expect(await near(7)).toBeUndefined()
    const twins = (await search([], last!.vector!)).hits.filter(({ cosine }) => (cosine ?? 0) > 0.999)
    expect(twins.map(({ key }) => key).sort((a, b) => a - b)).toEqual([5, 1_000])
  })

  it('keep a limited number of spaces open, and reopen a closed space for a query', async () => {
    start({ maxOpen: 2 })
    for (const space of ['a', 'b', 'c', 'd']) {
      await followBatch(indexes, space, { ...source.commit(nodes(1, 5)) })
    }
    for (const space of ['a', 'b', 'c', 'd']) {
      const found = await indexes.search(space, { terms: ['number3'], textK: 5, vectorK: 5 })
      expect(found.hits).toHaveLength(1)
    }
  })

  it('remove all files of a dropped space', async () => {
    start()
    await followBatch(indexes, SPACE, source.commit(nodes(1, 5)))
    expect(await readdir(dir)).toEqual([SPACE])
    source = Object.assign(source, { nodes: new Map(), log: [], seq: 0, vectorSpace: undefined })
    await indexes.drop(SPACE)
    expect(await readdir(dir)).toEqual([])
    expect((await search(['number3'], vectors[1])).hits).toEqual([])
    expect(await readdir(dir)).toEqual([])
  })
})
