import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { createSearchIndexes } from '../../../src/engine/search/indexes.js'
import type { IndexedNode, ReplaySource, SearchIndexes } from '../../../src/engine/search/ports.js'
import { loadTantivy } from '../../../src/engine/search/tantivy-binding.js'
import { FakeSource, followBatch } from './fake-source.js'

const QUIET = '0190a1b2-0000-7000-8000-000000000001'
const BUSY = '0190a1b2-0000-7000-8000-000000000002'

let dir = ''
let sources: Record<string, FakeSource> = {}
let indexes: SearchIndexes
let messages: string[] = []

const quiet = () => of(QUIET)
const busy = () => of(BUSY)

function of(space: string): FakeSource {
  const source = sources[space]
  if (source === undefined) throw new Error(`there is no space ${space}`)
  return source
}

/** Each space has its own source. */
const perSpace: ReplaySource = {
  inSpace: (_space, work) => work(),
  head: (space) => of(space).head(),
  oldestEntry: (space) => of(space).oldestEntry(),
  expectedCounts: (space) => of(space).expectedCounts(),
  countRows: (space) => of(space).countRows(),
  changes: (space, after, to) => of(space).changes(space, after, to),
  vectors: (space, vectorSpace) => of(space).vectors(space, vectorSpace),
  vectorSums: (space, vectorSpace) => of(space).vectorSums(space, vectorSpace),
  vectorsOfNodes: (space, vectorSpace, keys) => of(space).vectorsOfNodes(space, vectorSpace, keys),
}

const node = (key: number, body: string): IndexedNode => ({ key, doc: 1, title: 'Title', body })

async function keysOf(space: string, term: string): Promise<number[]> {
  const { hits } = await indexes.search(space, { terms: [term], textK: 10, vectorK: 10 })
  return hits.map(({ key }) => key)
}

beforeEach(async () => {
  process.env['KS_FAULT'] = 'index'
  dir = await mkdtemp(join(tmpdir(), 'ks-thread-'))
  sources = { [QUIET]: new FakeSource(), [BUSY]: new FakeSource() }
  messages = []
  indexes = createSearchIndexes({
    dir,
    source: perSpace,
    textEngine: 'tantivy',
    watermarkLagMs: 0,
    log: (message) => messages.push(message),
  })
  await followBatch(indexes, QUIET, quiet().commit([node(1, 'heron')]))
  await followBatch(indexes, BUSY, busy().commit([node(1, 'plover')]))
})
afterEach(async () => {
  await indexes.close()
  delete process.env['KS_FAULT']
  removeFolder(dir)
})

describe.skipIf(loadTantivy().binding === undefined)('the writer thread of text indexes', () => {
  it('commits one space while all spaces answer queries, and reports a change only when searches find it', async () => {
    let isDone = false
    const following = followBatch(indexes, BUSY, busy().commit([node(2, 'kestrel ks-fault-hold-3000')])).then(() => {
      isDone = true
    })
    let searchCount = 0
    while (!isDone) {
      expect(await keysOf(QUIET, 'heron')).toEqual([1])
      expect(await keysOf(BUSY, 'plover')).toEqual([1])
      const seen = await keysOf(BUSY, 'kestrel')
      if (!isDone && seen.length === 0) searchCount++
    }
    await following
    // In the thread of the searches, the commit would block all later queries.
    expect(searchCount).toBeGreaterThan(20)
    expect(await keysOf(BUSY, 'kestrel')).toEqual([2])
  })

  it('applies changes of all spaces that arrive during a long commit, and loses none', async () => {
    const longCommit = followBatch(indexes, BUSY, busy().commit([node(2, 'kestrel ks-fault-hold-1000')]))
    const others = Array.from({ length: 10 }, (_, i) =>
      followBatch(indexes, i % 2 === 0 ? QUIET : BUSY, of(i % 2 === 0 ? QUIET : BUSY).commit([node(10 + i, 'curlew')])),
    )
    await Promise.all([longCommit, ...others])
    expect((await keysOf(QUIET, 'curlew')).sort()).toEqual([10, 12, 14, 16, 18])
    expect((await keysOf(BUSY, 'curlew')).sort()).toEqual([11, 13, 15, 17, 19])
    expect(await indexes.status(BUSY)).toMatchObject({ textCount: 7, textWatermark: 7 })
  })

  it('ends with the index process, which is killed, if it hangs while searches are still answered', async () => {
    const before = indexes.pid()
    indexes.beginShutdown()
    const following = followBatch(indexes, BUSY, busy().commit([node(2, 'kestrel ks-fault-hold-600000')]))
    following.catch(() => {})
    while (indexes.pid() === before) expect(await keysOf(QUIET, 'heron')).toEqual([1])
    expect(messages.join('\n')).toContain('does not answer and is killed')
    await expect.poll(() => keysOf(QUIET, 'heron')).toEqual([1])
    // Removes the passage from the source, so that it is not retried.
    busy().nodes.delete(2)
    busy().log.splice(1)
    await indexes.close()
    await expect(following).rejects.toThrow()
  })
})
