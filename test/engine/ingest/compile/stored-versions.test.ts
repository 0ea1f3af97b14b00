import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { smokeTest } from '../../../../src/engine/ingest/compile/smoke.js'
import type { ParsedWork } from '../../../../src/engine/ingest/compile/store-versions.js'
import type { BuiltWork } from '../../../../src/engine/ingest/compile/work.js'
import { DEFAULT_POLICIES } from '../../../../src/engine/library/spaces/manifest.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import { openSmallStore, passages, preparedDocument, type SmallStore } from '../../../helpers/store.js'
import { storeAndIndex } from './store-and-index.js'

const signal = new AbortController().signal
/** More passages than one transaction stores. */
const MANY = 1200

let store: SmallStore
beforeEach(async () => {
  store = await openSmallStore()
})
afterEach(() => store.end())

const many = (count: number, word = 'passage') => passages(...Array.from({ length: count }, (_, n) => `${word} ${n}`))

async function read(space: SpaceRow, files: Record<string, string>): Promise<ParsedWork[]> {
  const works = await store.uploadAndClaim(space, files)
  const texts = Object.values(files)
  return Promise.all(
    works.map(async (work, place) => ({
      work,
      document: await preparedDocument(work.document.filename, texts[place] ?? ''),
    })),
  )
}

const nodes = () => store.rows<{ text: string }>('SELECT text FROM nodes ORDER BY key').map(({ text }) => text)
const stages = () => store.rows<{ stage: string }>('SELECT stage FROM jobs ORDER BY key').map(({ stage }) => stage)

describe('storing versions', () => {
  it('keeps the order of passages and updates the index, while readers see nothing', async () => {
    const space = store.createSpace()
    const { built, refused } = await storeAndIndex(
      store.context,
      space,
      await read(space, { 'a.md': passages('one', 'two'), 'empty.md': '', 'b.md': 'three' }),
      signal,
    )
    expect(refused).toEqual([])
    expect(built.map(({ nodes }) => nodes.map(({ text }) => text))).toEqual([['one', 'two'], [], ['three']])
    expect(nodes()).toEqual(['one', 'two', 'three'])
    expect(store.rows('SELECT key, text FROM nodes ORDER BY key')).toEqual(
      built.flatMap(({ nodes }) => nodes.map(({ key, text }) => ({ key, text }))),
    )
    expect(store.indexes.texts(space.id)).toEqual(['one', 'three', 'two'])
    expect([...store.indexes.stateOf(space.id).nodes.values()].map(({ doc }) => doc)).toEqual([
      built[0]?.document.key,
      built[0]?.document.key,
      built[2]?.document.key,
    ])
    expect(stages()).toEqual(['nodes_generated', 'nodes_generated', 'nodes_generated'])
    expect(built.map(({ job }) => job.stage)).toEqual(stages())
    expect(store.rows('SELECT DISTINCT status FROM staged_commits')).toEqual([{ status: 'nodes-built' }])
    expect(store.rows('SELECT 1 FROM versions WHERE from_revision IS NOT NULL')).toEqual([])
    expect(store.rows('SELECT segment_count n, node_count m FROM versions ORDER BY key')).toEqual([
      { n: 2, m: 2 },
      { n: 0, m: 0 },
      { n: 1, m: 1 },
    ])
  })

  it('puts small versions into one transaction, so that the index needs no log', async () => {
    const space = store.createSpace()
    const files = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`${n}.md`, `text ${n}`]))
    await storeAndIndex(store.context, space, await read(space, files), signal)
    expect(store.rows('SELECT seq FROM projection_log')).toHaveLength(1)
    expect(store.indexes.fresh).toMatchObject([{ first: 1, seq: 1, add: { length: 10 }, remove: [] }])
  })

  it('splits a large version into slices and stores small ones next to it', async () => {
    const space = store.createSpace()
    const seen: number[] = []
    const work = await read(space, { 'small.md': 'first', 'large.md': many(MANY), 'last.md': 'last' })
    store.betweenSteps = () => void seen.push(nodes().length)
    const { built } = await storeAndIndex(store.context, space, work, signal)
    expect(built.map(({ nodes }) => nodes.length)).toEqual([1, MANY, 1])
    expect(nodes()).toEqual(['first', ...many(MANY).split('\n\n'), 'last'])
    expect(store.indexes.texts(space.id)).toHaveLength(MANY + 2)
    const steps = seen.map((count, place) => count - (seen[place - 1] ?? 0))
    expect(Math.max(...steps)).toBeLessThanOrEqual(500)
    expect(seen.filter((n) => n > 1 && n < MANY).length).toBeGreaterThan(1)
    expect(store.rows('SELECT node_count FROM versions ORDER BY key')).toEqual([
      { node_count: 1 },
      { node_count: MANY },
      { node_count: 1 },
    ])
  })

  it('needs several transactions for many small documents', async () => {
    const space = store.createSpace()
    const files = Object.fromEntries(Array.from({ length: 70 }, (_, n) => [`${n}.md`, many(9, `of ${n}`)]))
    const { built } = await storeAndIndex(store.context, space, await read(space, files), signal)
    expect(built).toHaveLength(70)
    expect(nodes()).toHaveLength(630)
    expect(store.rows('SELECT seq FROM projection_log').length).toBeGreaterThan(1)
    expect(store.indexes.texts(space.id)).toHaveLength(630)
  })

  it('puts at most 32 documents into one transaction, however small they are', async () => {
    const space = store.createSpace()
    const files = Object.fromEntries(Array.from({ length: 70 }, (_, n) => [`${n}.md`, `text ${n}`]))
    const work = await read(space, files)
    const seen: number[] = []
    store.betweenSteps = () => void seen.push(nodes().length)
    const { built } = await storeAndIndex(store.context, space, work, signal)
    expect(built).toHaveLength(70)
    expect(nodes()).toEqual(Object.values(files))
    const steps = seen.map((count, place) => count - (seen[place - 1] ?? 0))
    // More would block queries; one by one would sync the disk for each.
    expect(Math.max(...steps)).toBeLessThanOrEqual(32)
    expect(Math.max(...steps)).toBeGreaterThan(8)
    expect(store.indexes.texts(space.id)).toHaveLength(70)
  })

  it.each([
    ['documents', ['a.md', 'b.md', 'c.md', 'd.md']],
    ['one document', ['a.md']],
  ])('puts at most half a megabyte into one transaction for %s with few long passages', async (_, names) => {
    const space = store.createSpace()
    const text = (name: string) => `${name} `.repeat(60_000)
    const each = 4 / names.length
    const files = Object.fromEntries(
      names.map((name) => [name, passages(...Array.from({ length: each }, () => text(name)))]),
    )
    const work = await read(space, files)
    const seen: number[] = []
    store.betweenSteps = () => void seen.push(nodes().length)
    const { built } = await storeAndIndex(store.context, space, work, signal)
    expect(built).toHaveLength(names.length)
    expect(nodes()).toHaveLength(4)
    const steps = [...seen, nodes().length].map((count, place) => count - (seen[place - 1] ?? 0))
    expect(Math.max(...steps)).toBe(1)
  })

  it('includes pictures and artifacts that do not fit into a row', async () => {
    const space = store.createSpace()
    const [item] = await read(space, { 'a.md': 'one' })
    if (item === undefined) throw new Error('nothing was read')
    const artifact = new Uint8Array(900_000).fill(7)
    const bytes = Uint8Array.of(1, 2, 3)
    const asset = { itemId: 'i1', contentType: 'image/png', sha256: 'x', bytes }
    const document = { ...item.document, artifact, assets: [asset] }
    const { built } = await storeAndIndex(store.context, space, [{ ...item, document }], signal)
    expect(built).toHaveLength(1)
    expect(store.rows('SELECT item_id, bytes FROM item_assets')).toEqual([{ item_id: 'i1', bytes: Buffer.from(bytes) }])
    const parts = store.rows<{ bytes: Uint8Array }>('SELECT bytes FROM version_parts ORDER BY place')
    expect(Buffer.concat(parts.map((part) => part.bytes)).equals(artifact)).toBe(true)
  })

  it('replaces what an earlier run of the job stored', async () => {
    const space = store.createSpace()
    const work = await read(space, { 'a.md': passages('one', 'two') })
    await storeAndIndex(store.context, space, work, signal)
    store.run("UPDATE jobs SET stage = 'queued'")
    await storeAndIndex(store.context, space, work, signal)
    expect(nodes()).toEqual(['one', 'two'])
    expect(store.rows('SELECT key FROM versions')).toHaveLength(1)
    expect(store.indexes.texts(space.id)).toEqual(['one', 'two'])
  })
})

describe('versions that are not stored', () => {
  it('include versions whose job had ended or was taken over', async () => {
    const space = store.createSpace()
    const work = await read(space, { 'a.md': 'one', 'b.md': 'two', 'c.md': 'three' })
    store.run("UPDATE jobs SET claimed_by = 'another' WHERE key = ?", work[0]?.work.job.key ?? 0)
    store.run("UPDATE jobs SET stage = 'canceled', completed_at = 1 WHERE key = ?", work[1]?.work.job.key ?? 0)
    const { built, refused } = await storeAndIndex(store.context, space, work, signal)
    expect(built.map(({ document }) => document.filename)).toEqual(['c.md'])
    expect(refused).toEqual([])
    expect(nodes()).toEqual(['three'])
    expect(stages()).toEqual(['queued', 'canceled', 'nodes_generated'])
  })

  it('include versions that exceed the passage quota, with the reason', async () => {
    const quotaPolicy = { ...DEFAULT_POLICIES.quotaPolicy, maxNodeCount: 3 }
    const space = store.createSpace({ policies: { quotaPolicy } })
    const work = await read(space, { 'a.md': passages('1', '2'), 'b.md': passages('3', '4'), 'c.md': '5' })
    const { built, refused } = await storeAndIndex(store.context, space, work, signal)
    expect(built.map(({ document }) => document.filename)).toEqual(['a.md', 'c.md'])
    expect(refused).toMatchObject(
      [{ work: { document: { filename: 'b.md' } }, failure: { code: 'quota-exceeded', message: /maxNodeCount/ } }].map(
        (one) => ({ ...one, failure: { code: 'quota-exceeded', message: expect.stringContaining('maxNodeCount') } }),
      ),
    )
    expect(nodes()).toEqual(['1', '2', '5'])
  })

  it.each([
    ['artifactBytes', { maxArtifactBytes: 10 }],
    ['segments', { maxSegmentCount: 1 }],
    ['a large document', { maxNodeCount: MANY - 1 }],
  ])('include versions over the quota of %s', async (what, quota) => {
    const quotaPolicy = { ...DEFAULT_POLICIES.quotaPolicy, ...quota }
    const space = store.createSpace({ policies: { quotaPolicy } })
    const text = what === 'a large document' ? many(MANY) : passages('1', '2')
    const { built, refused } = await storeAndIndex(store.context, space, await read(space, { 'a.md': text }), signal)
    expect(built).toEqual([])
    expect(refused).toMatchObject([{ failure: { code: 'quota-exceeded' } }])
    expect(nodes()).toEqual([])
  })

  it('include the rest of a document that is taken over, dropped or over the quota between two slices', async () => {
    for (const how of ['taken over', 'dropped', 'full']) {
      const quotaPolicy = { ...DEFAULT_POLICIES.quotaPolicy, maxNodeCount: MANY + 10 }
      const space = store.createSpace({ policies: { quotaPolicy } })
      const work = await read(space, { [`${how}.md`]: many(MANY, how) })
      const other = how === 'full' ? await read(space, { 'other.md': many(20) }) : []
      const stored = () =>
        store.rows<{ n: number }>('SELECT count(*) n FROM nodes WHERE space_key = ?', space.key)[0]?.n ?? 0
      store.betweenSteps = async () => {
        if (stored() === 0) return
        store.betweenSteps = () => undefined
        const key = work[0]?.work.job.key ?? 0
        if (how === 'taken over') store.run("UPDATE jobs SET claimed_by = 'another' WHERE key = ?", key)
        else if (how === 'dropped') store.run('UPDATE versions SET version = -key WHERE space_key = ?', space.key)
        else await storeAndIndex(store.context, { ...space, manifest: '{}' }, other, signal)
      }
      const { built, refused } = await storeAndIndex(store.context, space, work, signal)
      expect(built).toEqual([])
      expect(refused.map(({ failure }) => failure.code)).toEqual(how === 'full' ? ['quota-exceeded'] : [])
      expect(stored()).toBeLessThan(MANY)
    }
  })

  it('include everything that follows a stop, and storing throws', async () => {
    const space = store.createSpace()
    const stop = new AbortController()
    const work = await read(space, { 'a.md': many(MANY), 'b.md': 'two' })
    store.betweenSteps = () => {
      if (nodes().length > 0) stop.abort(new Error('stopped'))
    }
    await expect(storeAndIndex(store.context, space, work, stop.signal)).rejects.toThrow('stopped')
    expect(nodes().length).toBeLessThan(MANY)
    expect(stages()).toEqual(['queued', 'queued'])
    await expect(storeAndIndex(store.context, space, work, stop.signal)).rejects.toThrow('stopped')
  })

  it('do not include versions that the index fails to take: all are stored before the failure is thrown', async () => {
    const space = store.createSpace()
    const work = await read(space, { 'a.md': many(MANY), 'b.md': 'two' })
    store.context.indexes.follow = async () => {
      throw new Error('the index is gone')
    }
    await expect(storeAndIndex(store.context, space, work, signal)).rejects.toThrow('the index is gone')
    expect(nodes()).toHaveLength(MANY + 1)
    expect(stages()).toEqual(['nodes_generated', 'nodes_generated'])
  })
})

describe('the smoke test of a batch', () => {
  const builtOf = (space: SpaceRow, files: Record<string, string>) =>
    read(space, files).then((work) => storeAndIndex(store.context, space, work, signal).then(({ built }) => built))

  it('searches new content by its own words within its document', async () => {
    const space = store.createSpace()
    const built = await builtOf(space, { 'a.md': 'lighthouse keeper keeper', 'empty.md': '', 'b.md': 'zebra' })
    await smokeTest(store.context, space, built)
    expect(store.indexes.searched.map(({ docs }) => docs)).toEqual([[built[0]?.document.key], [built[2]?.document.key]])
    const [first] = store.indexes.searched
    expect(first?.terms).toContain('keeper')
    expect(new Set(first?.terms).size).toBe(first?.terms.length)
    // One passage is sufficient.
    expect(first?.textK).toBe(1)
    expect(first?.vectorK).toBe(0)
  })

  it('fails when the index lost the content, and passes when the index cannot be searched', async () => {
    const space = store.createSpace()
    const built = await builtOf(space, { 'a.md': 'lighthouse' })
    store.indexes.stateOf(space.id).nodes.clear()
    await expect(smokeTest(store.context, space, built)).rejects.toMatchObject({ code: 'internal' })
    store.indexes.degradedBy = ['it is being rebuilt']
    await smokeTest(store.context, space, built)
  })

  it('samples documents from an entire large batch', async () => {
    const space = store.createSpace()
    const files = Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`${n}.md`, `zebra${n}`]))
    const built = await builtOf(space, files)
    await smokeTest(store.context, space, built)
    const asked = store.indexes.searched.map(({ docs }) => docs?.[0])
    expect(asked.length).toBeLessThan(8)
    expect(asked.length).toBeGreaterThan(2)
    expect(asked[0]).toBe(built[0]?.document.key)
    expect(built.slice(12).map(({ document }) => document.key)).toContain(asked.at(-1))
  })

  it('skips texts without words, uses few words of a long text, and no truncated word', async () => {
    const space = store.createSpace()
    const builtWith = (title: string, text: string): BuiltWork[] => [
      { document: { key: 1, filename: 'x' }, job: {}, versionKey: 1, nodes: [{ key: 1, title, text }] } as never,
    ]
    await smokeTest(store.context, space, builtWith('', '... --- ...'))
    expect(store.indexes.searched).toEqual([])
    store.indexes.degradedBy = ['x']
    const long = `${'a1 '.repeat(128)}${'lighthouse'.repeat(8)}`
    await smokeTest(store.context, space, builtWith('', long))
    expect(store.indexes.searched[0]?.terms).toEqual(['a1'])
    const words = Array.from({ length: 40 }, (_, n) => `word${n}x`).join(' ')
    await smokeTest(store.context, space, builtWith('heading', words))
    expect(store.indexes.searched[1]?.terms.length).toBeLessThanOrEqual(12)
    expect(store.indexes.searched[1]?.terms).toContain('head')
  })
})
