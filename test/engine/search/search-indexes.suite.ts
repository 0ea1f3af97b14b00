import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type {
  FreshBatch,
  IndexedNode,
  ReplaySource,
  SearchEngine,
  SearchHits,
  SearchIndexes,
} from '../../../src/engine/search/ports.js'
import { newId } from '../../../src/lib/ids.js'
import { FakeSource, followBatch, sourcesOf, vectorBatch } from './fake-source.js'
import { clusteredVectors, seeded } from './random.js'

/** Options of every adapter. */
export interface SuiteOptions {
  source: ReplaySource
  log: (message: string) => void
  graceMs?: number
  vectorsGraceMs?: number
}

/** Storage of one test's indexes: a second `open` finds the earlier state. */
export interface IndexStorage {
  textEngine: SearchEngine
  open(options: SuiteOptions): Promise<SearchIndexes>
  remove(): Promise<void>
}

const MODEL = 'test/model@1'
const DIMENSION = 16
const vectors = clusteredVectors(3_000, DIMENSION, 20, seeded(11))

/** The contract of search indexes, for every implementation. */
export function runSearchIndexesSuite(name: string, makePlace: () => Promise<IndexStorage>): void {
  describe(`search indexes: ${name}`, () => {
    let SPACE: string
    let place: IndexStorage
    let source: FakeSource
    let indexes: SearchIndexes
    let messages: string[]

    async function start(options: Partial<SuiteOptions> = {}): Promise<SearchIndexes> {
      const log = (message: string) => void messages.push(message)
      indexes = await place.open({ source, log, graceMs: 5_000, ...options })
      return indexes
    }

    beforeEach(async () => {
      place = await makePlace()
      SPACE = newId()
      source = new FakeSource(MODEL, DIMENSION)
      messages = []
    })
    afterEach(async () => {
      await indexes.close()
      await place.remove()
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

    it('finds nodes by terms and by vector, with both scores', async () => {
      await start()
      await followBatch(indexes, SPACE, source.commit([...nodes(1, 30), node(99, 'the quick brown foxes')]))
      const found = await search(['fox', 'quick'], vectors[7])
      expect(found.textEngine).toBe(place.textEngine)
      expect(found.degraded).toEqual([])
      expect(found.vectorMethod).toBe('exact')
      expect(found).toMatchObject({ textCount: 1, vectorCount: 10 })
      const byText = found.hits.find(({ key }) => key === 99)
      expect(byText?.bm25).toBeGreaterThan(0)
      expect(byText?.cosine).toBeTypeOf('number')
      expect(found.hits.find(({ key }) => key === 7)?.cosine).toBeCloseTo(1, 3)
    })

    it('catches up after it was closed: reads the log from its watermark, and loads all vectors', async () => {
      await start()
      await followBatch(indexes, SPACE, source.commit(nodes(1, 200)))
      await indexes.close()
      source.commit(nodes(500, 5), [1, 2])
      await start()
      expect(keysOf(await search(['number501', 'number1', 'number3']))).toEqual([3, 501])
      expect(source.changeRequests).toEqual([0, 1])
      const near = await search([], vectors[504])
      expect(near.hits.find(({ key }) => key === 504)?.cosine).toBeCloseTo(1, 3)
      expect(await indexes.status(SPACE)).toMatchObject({ textWatermark: 2, textCount: 203, vectorCount: 203 })
    })

    it('fills differences from the rows at the start, and reports degraded until they are filled', async () => {
      await start()
      await followBatch(indexes, SPACE, source.commit(nodes(1, 60)))
      await indexes.close()
      // The log continues without changes of these nodes: the replay neither adds nor removes them.
      source.nodes.set(900, node(900))
      source.nodes.delete(3)
      source.nodes.delete(4)
      source.delayMs = 50
      await start({ graceMs: 0, vectorsGraceMs: 0 })
      const early = await search(['common'], vectors[5])
      expect(early.degraded.join()).toMatch(/text index/)
      await indexes.settle(SPACE)
      expect(await indexes.status(SPACE)).toMatchObject({ textCount: 59, vectorCount: 59, degraded: [] })
      expect(keysOf(await search(['number3', 'number900', 'number7']))).toEqual([7, 900])
    })

    it('detects at the next change that it differs from the rows, and fills the difference', async () => {
      await start()
      await followBatch(indexes, SPACE, source.commit(nodes(1, 60)))
      await indexes.settle(SPACE)
      source.nodes.set(900, node(900))
      source.nodes.set(901, node(901))
      source.nodes.delete(3)
      await followBatch(indexes, SPACE, source.commit(nodes(100, 1)))
      await untilStatus((status) => status.textCount === 62 && status.vectorCount === 62)
      expect(keysOf(await search(['number900', 'number3', 'number7']))).toEqual([7, 900])
      await expect.poll(async () => (await search([], vectors[900])).degraded).toEqual([])
      const near = await search([], vectors[900])
      expect(near.hits.find(({ key }) => key === 900)?.cosine).toBeCloseTo(1, 3)
      expect(messages.join('\n')).toContain('the text index holds 61 passages, the rows')
    })

    it('keeps the order of simultaneous changes, and commits them together', async () => {
      await start()
      const batches = [
        source.commit([node(1, 'first')]),
        source.commit([node(1, 'second')]),
        source.commit([], [1]),
        source.commit([node(1, 'third')]),
        source.commit(nodes(10, 250)),
      ]
      await Promise.all(batches.map((batch) => followBatch(indexes, SPACE, batch)))
      expect(keysOf(await search(['first', 'second']))).toEqual([])
      expect(keysOf(await search(['third']))).toEqual([1])
      await indexes.settle(SPACE)
      expect(await indexes.status(SPACE)).toMatchObject({ textWatermark: 5, textCount: 251, vectorCount: 251 })
    })

    it('equals the rows if changes are announced in any order, twice, with gaps, with or without content', async () => {
      await start()
      const random = seeded(35)
      const waiting: Promise<void>[] = []
      let late: FreshBatch[] = []
      for (let i = 0; i < 120; i++) {
        const there = [...source.nodes.keys()]
        const gone = there.filter(() => random() < 0.05)
        const again = there.filter(() => random() < 0.02).map((key) => node(key, `zebra common number${key}`))
        const batch = source.commit([...nodes(1_000 + i * 10, Math.floor(random() * 5)), ...again], gone)
        late.push(batch)
        if (random() < 0.7) continue
        // Some of the waiting batches are passed twice, some without content, and some never.
        for (const told of late.sort(() => random() - 0.5)) {
          const dice = random()
          if (dice < 0.2) continue
          waiting.push(indexes.follow(SPACE, told.seq, dice < 0.7 ? told : undefined))
          if (dice < 0.4) waiting.push(indexes.follow(SPACE, told.seq, told))
        }
        late = []
        if (random() < 0.5) await Promise.all(waiting.splice(0))
      }
      await Promise.all(waiting)
      await indexes.settle(SPACE)
      const { size } = source.nodes
      expect(await indexes.status(SPACE)).toMatchObject({ textWatermark: 120, textCount: size, vectorCount: size })
      const found = await search(['common'], undefined, { k: 1_000 })
      expect(keysOf(found)).toEqual([...source.nodes.keys()].sort((a, b) => a - b))
      const changed = [...source.nodes.values()].filter(({ body }) => body.startsWith('zebra')).map(({ key }) => key)
      expect(changed.length).toBeGreaterThan(0)
      expect(keysOf(await search(['zebra'], undefined, { k: 1_000 }))).toEqual(changed.sort((a, b) => a - b))
    })

    it('reads the log only for missing changes, and not if it receives the next changes directly', async () => {
      await start()
      await followBatch(indexes, SPACE, source.commit(nodes(1, 3)))
      expect(source.changeRequests).toEqual([0])
      for (let i = 0; i < 5; i++) await followBatch(indexes, SPACE, source.commit(nodes(10 + 10 * i, 3)))
      expect(source.changeRequests).toEqual([0])
      source.commit(nodes(100, 3))
      await followBatch(indexes, SPACE, source.commit(nodes(200, 3)))
      expect(source.changeRequests).toEqual([0, 6])
      await indexes.follow(SPACE, 3)
      expect(source.changeRequests).toEqual([0, 6])
      expect(await indexes.status(SPACE)).toMatchObject({ textWatermark: 8, textCount: 24 })
    })

    it('catches up with the writes of another process before a search that requires their log position', async () => {
      await start()
      await followBatch(indexes, SPACE, source.commit(nodes(1, 3)))
      source.commit(nodes(50, 2), [2])
      const terms = ['number2', 'number51']
      expect(keysOf(await indexes.search(SPACE, { terms, textK: 10, vectorK: 10 }))).toEqual([2])
      const found = await indexes.search(SPACE, { seq: source.seq, terms, textK: 10, vectorK: 10 })
      expect(found.degraded).toEqual([])
      expect(keysOf(found)).toEqual([51])
    })

    it('reports degraded if it cannot catch up with the writes of another process in time', async () => {
      await start({ graceMs: 50 })
      await followBatch(indexes, SPACE, source.commit(nodes(1, 3)))
      source.commit(nodes(50, 2))
      source.delayMs = 400
      const late = await indexes.search(SPACE, { seq: source.seq, terms: ['number51'], textK: 10, vectorK: 10 })
      expect(late.hits).toEqual([])
      expect(late.degraded.join()).toContain('catching up')
      await indexes.follow(SPACE, source.seq)
      expect(keysOf(await search(['number51']))).toEqual([51])
    })

    it('does not delay a search for an announced change, and finds it after the change is applied', async () => {
      await start({ graceMs: 50 })
      await followBatch(indexes, SPACE, source.commit(nodes(1, 3)))
      const batch = source.commit(nodes(50, 2))
      indexes.announce(SPACE, batch.seq)
      const asked = source.changeRequests.length
      const wanted = { seq: source.seq, terms: ['number2', 'number51'], textK: 10, vectorK: 10 }
      const found = await indexes.search(SPACE, wanted)
      expect([keysOf(found), found.degraded, source.changeRequests.length]).toEqual([[2], [], asked])
      await followBatch(indexes, SPACE, batch)
      expect(keysOf(await indexes.search(SPACE, wanted))).toEqual([2, 51])
    })

    it('stays the same if a batch of changes is applied twice', async () => {
      await start()
      const batch = source.commit(nodes(1, 20))
      await followBatch(indexes, SPACE, batch)
      await followBatch(indexes, SPACE, source.commit([], [5]))
      await followBatch(indexes, SPACE, batch)
      expect(await indexes.status(SPACE)).toMatchObject({ textCount: 19, textWatermark: 2 })
    })

    it('answers from the part that is loaded while text and vectors are loading, and reports degraded', async () => {
      for (let i = 0; i < 20; i++) source.commit(nodes(i * 50 + 1, 50))
      source.delayMs = 60
      await start({ graceMs: 100, vectorsGraceMs: 100 })
      const early = await search(['number7'], vectors[900])
      expect(early.degraded.join()).toMatch(/catching up|being loaded/)
      source.delayMs = 0
      await untilStatus((status) => status.vectorCount === 1_000 && status.textCount === 1_000)
      // The last vector appears shortly before loading is complete.
      await expect.poll(async () => (await search(['number7'], vectors[900])).degraded).toEqual([])
      const late = await search(['number7'], vectors[900])
      expect(keysOf(late)).toEqual(expect.arrayContaining([7, 900]))
    })

    it('filters both text hits and vector hits by document', async () => {
      await start()
      await followBatch(indexes, SPACE, source.commit(nodes(1, 100)))
      const found = await search(['common'], vectors[3], { docs: [4, 6], k: 50 })
      expect(found.hits).toHaveLength(20)
      expect(found.hits.every(({ key }) => [4, 6].includes((key % 10) + 1))).toBe(true)
      expect((await search(['common'], vectors[3], { docs: [] })).hits).toEqual([])
    })

    it.each([
      { docs: [4, 6], isExcluded: false },
      { docs: [1, 2, 3, 5, 7, 8, 9, 10], isExcluded: true },
    ])('finds, counts and compares only nodes in the scope %j, by text and by vector', async (scope) => {
      await start()
      await followBatch(indexes, SPACE, source.commit(nodes(1, 300)))
      const ask = (more: object = {}) =>
        indexes.search(SPACE, {
          ...{ terms: ['common', 'number2'], textK: 100, vectorK: 100, vector: vectors[3]!, vectorSpace: MODEL },
          ...{ wantsBackground: true, ...more },
        })
      const found = await ask({ scope })
      expect(found.hits).toHaveLength(60)
      expect(found.hits.every(({ key }) => [4, 6].includes((key % 10) + 1))).toBe(true)
      expect([found.textCount, found.vectorCount]).toEqual([60, 60])
      expect(Object.fromEntries(found.frequencies)).toEqual({ common: 60, number2: 0 })
      expect(found.background?.samples).toBe(60)
      expect((await ask()).background?.samples).toBeGreaterThan(60)
      expect(keysOf(await ask({ scope, docs: [4, 5] })).every((key) => (key % 10) + 1 === 4)).toBe(true)
    })

    it('clamps k to the allowed range, and rejects vectors with NaN, Infinity or mixed dimensions', async () => {
      await start()
      await followBatch(indexes, SPACE, source.commit(nodes(1, 30)))
      for (const k of [0, -5, Number.NaN]) expect((await search(['common'], undefined, { k })).hits).toHaveLength(1)
      expect((await search(['common'], vectors[1], { k: 10 ** 12 })).hits).toHaveLength(30)
      expect((await search([], undefined)).hits).toEqual([])
      await expect(search([], new Float32Array(DIMENSION).fill(Number.NaN))).rejects.toMatchObject({
        code: 'invalid-request',
      })
      const otherLength = await search(['number4'], new Float32Array(3).fill(0.5))
      expect(keysOf(otherLength)).toEqual([4])
      expect(otherLength.degraded.join()).toContain('3 dimensions')

      const broken = vectors[0]!.slice()
      broken[3] = Number.POSITIVE_INFINITY
      const batch = { first: 9, seq: 9, add: [{ ...node(900), vector: broken }], remove: [], vectorSpace: MODEL }
      await expect(followBatch(indexes, SPACE, batch)).rejects.toMatchObject({ code: 'invalid-request' })
      const short = { ...batch, add: [node(900), { ...node(901), vector: new Float32Array(4) }] }
      await expect(followBatch(indexes, SPACE, short)).rejects.toMatchObject({ code: 'invalid-request' })
      expect(await indexes.status(SPACE)).toMatchObject({ textCount: 30, vectorCount: 30 })
    })

    it('counts no rows while counters and indexes agree, and rebuilds nothing for a wrong counter', async () => {
      await start()
      for (let i = 0; i < 10; i++) await followBatch(indexes, SPACE, source.commit(nodes(i * 10 + 1, 10)))
      await new Promise((resolve) => setTimeout(resolve, 1_200))
      // On a busy machine one comparison may overlap the next change.
      const before = source.counts
      await followBatch(indexes, SPACE, source.commit(nodes(500, 0)))
      await new Promise((resolve) => setTimeout(resolve, 1_500))
      expect(source.counts).toBe(before)
      const asked = source.changeRequests.length
      const wrong = source.expectedCounts.bind(source)
      source.expectedCounts = async () => ({ ...(await wrong()), nodes: 103, vectors: 98 })
      source.countRows = async () => {
        source.counts++
        return wrong()
      }
      await followBatch(indexes, SPACE, source.commit(nodes(500, 0)))
      await expect.poll(() => source.counts).toBe(before + 1)
      // A change during the row count causes another count.
      await new Promise((resolve) => setTimeout(resolve, 1_000))
      await followBatch(indexes, SPACE, source.commit(nodes(500, 0)))
      await new Promise((resolve) => setTimeout(resolve, 1_500))
      expect(source.counts).toBe(before + 1)
      expect(source.changeRequests.length).toBe(asked)
      expect(await indexes.status(SPACE)).toMatchObject({ textCount: 100, vectorCount: 100, degraded: [] })
    })

    it('keeps reporting a difference to the row counters that remains after a fill, and keeps answering', async () => {
      source.commit(nodes(1, 30))
      const wrong = source.expectedCounts.bind(source)
      source.expectedCounts = async () => ({ ...(await wrong()), nodes: 40, vectors: 41 })
      await start()
      const found = await search(['number3'], vectors[3])
      expect(keysOf(found)).toContain(3)
      await indexes.settle(SPACE)
      expect((await search(['number3'], vectors[3])).degraded).toEqual([
        'the text index holds 30 passages, the rows 40',
        'the vector index holds 30 vectors, the rows 41',
      ])
      await followBatch(indexes, SPACE, source.commit(nodes(500, 1)))
      expect(keysOf(await search(['number500']))).toEqual([500])
    })

    it('switches from one vector space to another', async () => {
      await start()
      await followBatch(indexes, SPACE, source.commit(nodes(1, 40)))
      const other = clusteredVectors(40, 8, 4, seeded(2))
      source.extra.set('next', new Map(other.map((vector, i) => [i + 1, vector])))
      const batch = vectorBatch(
        'next',
        other.map((vector, i) => ({ key: i + 1, doc: 1, vector })),
      )
      await indexes.addVectors(SPACE, batch)
      const ask = (vectorSpace: string, vector: Float32Array) =>
        indexes.search(SPACE, { terms: [], vector, vectorSpace, textK: 3, vectorK: 3 })
      expect((await ask(MODEL, vectors[5]!)).vectorCount).toBe(3)
      expect((await ask('next', other[5]!)).hits.some(({ key }) => key === 6)).toBe(true)
      source.vectorSpace = 'next'
      source.dimension = 8
      await indexes.activateVectors(SPACE, 'next')
      expect(await indexes.status(SPACE)).toMatchObject({ vectorSpace: 'next', vectorCount: 40 })
      expect((await ask('next', other[5]!)).hits.some(({ key }) => key === 6)).toBe(true)
    })

    it('stops a search whose caller aborts, and rejects searches after close', async () => {
      await start()
      await followBatch(indexes, SPACE, source.commit(nodes(1, 5)))
      const gone = AbortSignal.abort(new Error('nobody waits'))
      await expect(indexes.search(SPACE, { terms: ['a'], textK: 1, vectorK: 1 }, gone)).rejects.toThrow('nobody waits')
      const controller = new AbortController()
      const waiting = indexes.search(SPACE, { terms: ['a'], textK: 1, vectorK: 1 }, controller.signal)
      controller.abort(new Error('changed my mind'))
      await expect(waiting).rejects.toThrow('changed my mind')
      await indexes.close()
      await expect(search(['number1'])).rejects.toMatchObject({ code: 'unavailable' })
      expect(indexes.pid()).toBeUndefined()
    })

    it('rebuilds if it is older than the oldest log entry, or ahead of the source', async () => {
      await start()
      await followBatch(indexes, SPACE, source.commit(nodes(1, 50)))
      await indexes.close()

      source.commit([], [7])
      source.commit(nodes(100, 1))
      source.oldestSeq = 3
      await start()
      expect(keysOf(await search(['number7', 'number100']))).toEqual([100])
      await indexes.close()

      const restored = new FakeSource(MODEL, DIMENSION)
      restored.commit(nodes(7, 1))
      source = restored
      await start()
      expect(keysOf(await search(['number7', 'number100', 'number8']))).toEqual([7])
      await untilStatus(({ vectorCount, textCount }) => vectorCount === 1 && textCount === 1)
    })

    it('reports an error of its source as degraded, and is complete when the source works again', async () => {
      await start()
      await followBatch(indexes, SPACE, source.commit(nodes(1, 10)))
      await indexes.close()
      source.commit(nodes(20, 10))
      const working = source.head.bind(source)
      source.head = async () => {
        throw new Error('the database is busy')
      }
      await start({ graceMs: 200 })
      expect((await search(['number3'])).degraded.join()).toContain('the database is busy')
      source.head = working
      await followBatch(indexes, SPACE, source.commit(nodes(40, 10)))
      expect(keysOf(await search(['number3', 'number25', 'number45']))).toEqual([3, 25, 45])
    })

    it('rebuilds its content from the source on request', async () => {
      await start()
      await followBatch(indexes, SPACE, source.commit(nodes(1, 40)))
      await indexes.settle(SPACE)
      // Without a log entry the change goes unnoticed.
      source.nodes.set(3, node(3, 'written over'))
      await indexes.rebuild(SPACE)
      expect(keysOf(await search(['written']))).toEqual([3])
      expect(keysOf(await search(['number3']))).toEqual([])
      expect(await indexes.status(SPACE)).toMatchObject({ textCount: 40, vectorCount: 40, textWatermark: 1 })
    })

    it('removes all content of a dropped space, and shows no node of one space in another', async () => {
      const other = newId()
      const others = new FakeSource(MODEL, DIMENSION)
      await start({ source: sourcesOf({ [SPACE]: source, [other]: others }) })
      await followBatch(indexes, SPACE, source.commit(nodes(1, 5)))
      await followBatch(indexes, other, others.commit(nodes(901, 2)))
      const ask = (space: string) =>
        indexes.search(space, { terms: ['common'], vector: vectors[1]!, vectorSpace: MODEL, textK: 50, vectorK: 50 })
      const found = await ask(SPACE)
      expect(keysOf(found)).toEqual([1, 2, 3, 4, 5])
      expect([...found.frequencies]).toEqual([['common', 5]])
      Object.assign(source, { nodes: new Map(), log: [], seq: 0, vectorSpace: undefined })
      await indexes.drop(SPACE)
      expect((await ask(SPACE)).hits).toEqual([])
      expect(await indexes.status(SPACE)).toMatchObject({ textCount: 0, vectorCount: 0 })
      expect(keysOf(await ask(other))).toEqual([901, 902])
    })

    it('ranks by the rarity of a term, its frequency, and the length of a passage', async () => {
      await start()
      const filler = Array.from({ length: 40 }, (_, i) => node(100 + i, `padding common filler${i}`))
      await followBatch(
        indexes,
        SPACE,
        source.commit([
          node(1, 'heron common'),
          node(2, 'heron heron heron common'),
          node(3, `heron common ${'other words that make it long '.repeat(20)}`),
          node(4, 'common common common common'),
          ...filler,
        ]),
      )
      const found = await search(['heron', 'common'], undefined, { k: 50 })
      const order = [...found.hits].sort((a, b) => (b.bm25 ?? 0) - (a.bm25 ?? 0)).map(({ key }) => key)
      expect(order.slice(0, 3)).toEqual([2, 1, 3])
      expect(found.hits).toHaveLength(44)
      expect([...found.frequencies]).toEqual([
        ['heron', 3],
        ['common', 44],
      ])
    })

    it('finds passages with the separate words of a German compound in the query', async () => {
      await start()
      const filler = Array.from({ length: 20 }, (_, i) => node(100 + i, `filler${i} padding`))
      await followBatch(
        indexes,
        SPACE,
        source.commit([
          node(1, 'Anspruch auf Urlaub und Tage'),
          node(2, 'Urlaubsanspruch und Tage'),
          node(3, 'ein Anspruch und Tage'),
          ...filler,
        ]),
      )
      const ask = (words: { text: string; term: string }[]) =>
        indexes.search(SPACE, {
          terms: words.map(({ term }) => term),
          compounds: { words, languages: ['de'], isCertain: true },
          textK: 10,
          vectorK: 1,
        })
      const whole = await ask([{ text: 'urlaubsanspruch', term: 'urlaubsanspruch' }])
      expect(keysOf(whole)).toEqual([1, 2])
      expect(whole.rewordings).toEqual([{ queryTerms: ['urlaubsanspruch'], documentTerms: ['urlaub', 'anspruch'] }])
    })

    it('returns background statistics of cosines only on request', async () => {
      await start()
      await followBatch(indexes, SPACE, source.commit(nodes(1, 400)))
      const request = { terms: [], vector: vectors[5]!, vectorSpace: MODEL, textK: 10, vectorK: 10 }
      expect((await indexes.search(SPACE, request)).background).toBeUndefined()
      const { background } = await indexes.search(SPACE, { ...request, wantsBackground: true })
      expect(background?.samples).toBeGreaterThan(60)
      expect(Math.abs(background?.middle ?? 1)).toBeLessThan(0.5)
    })

    it('ranks a passage first in 90 % of searches for 12 of its terms that other passages share', async () => {
      await start()
      const random = seeded(7)
      const word = () => `w${Math.floor(random() ** 3 * 300)}`
      const many = Array.from({ length: 1_500 }, (_, i) => node(i + 1, Array.from({ length: 30 }, word).join(' ')))
      await followBatch(indexes, SPACE, source.commit(many))
      let best = 0
      const asked = many.filter((_, i) => i % 50 === 0)
      for (const { key, body } of asked) {
        const terms = body.split(' ').slice(0, 12)
        const { hits } = await search(terms, undefined, { k: 200 })
        const [first] = [...hits].sort((a, b) => (b.bm25 ?? 0) - (a.bm25 ?? 0))
        if (first?.key === key) best++
      }
      expect(best / asked.length).toBeGreaterThan(0.9)
    })

    it('accepts any text as a term: punctuation, other scripts, quotes and control characters', async () => {
      await start()
      await followBatch(indexes, SPACE, source.commit([node(1, "c++ .net o'neil 检索 größe 😀 foo:bar back\\slash")]))
      const odd = [
        'c++',
        '.net',
        "o'neil",
        '"',
        'a"b',
        '检索',
        '😀',
        'foo:bar',
        '*',
        '\0',
        '\ud800',
        '\\',
        "'",
        '',
        ' ',
        'x'.repeat(100_000),
      ]
      for (const term of odd) expect((await search([term, 'absent'])).degraded).toEqual([])
      expect(keysOf(await search(['检索']))).toEqual([1])
      expect((await search(odd)).degraded).toEqual([])
    })
  })
}
