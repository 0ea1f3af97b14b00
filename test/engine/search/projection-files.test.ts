import { cp, mkdir, mkdtemp, readdir, rm, stat, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { createSearchIndexes } from '../../../src/engine/search/indexes.js'
import type { SearchIndexes } from '../../../src/engine/search/ports.js'
import { loadTantivy } from '../../../src/engine/search/tantivy-binding.js'
import type { TextEngine } from '../../../src/engine/search/text-index.js'
import { until } from '../../helpers/until.js'
import { FakeSource } from './fake-source.js'
import { clusteredVectors, seeded } from './random.js'

const MINE = '0190a1b2-0000-7000-8000-000000000003'
const OTHER = '0190a1b2-0000-7000-8000-000000000004'
const MODEL = 'test/model@1'
const DIMENSION = 16
const NODES = 600
/** Additional passages of the other space. */
const MORE = 90
const GRAPH = { graphFrom: 400, staleFrom: 200, settleMs: 5 }
const vectors = clusteredVectors(2 * NODES + MORE, DIMENSION, 20, seeded(31))

let dir = ''
let messages: string[] = []
const open = new Set<SearchIndexes>()

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'ks-projections-'))
  messages = []
})
afterEach(async () => {
  for (const indexes of open) await indexes.close()
  open.clear()
  removeFolder(dir)
})

/** A space with its own source: the same keys, but different words and vectors. */
function sourceOf(word: string, firstVector: number, nodes = NODES): FakeSource {
  const source = new FakeSource(MODEL, DIMENSION)
  source.commit(
    Array.from({ length: nodes }, (_, at) => {
      const vector = vectors[firstVector + at]
      if (vector === undefined) throw new Error('too few vectors')
      return { key: at + 1, doc: (at % 7) + 1, title: `${word} note`, body: `${word} number${at + 1}`, vector }
    }),
  )
  return source
}

function start(source: FakeSource, textEngine: TextEngine): SearchIndexes {
  const indexes = createSearchIndexes({
    dir,
    source,
    textEngine,
    watermarkLagMs: 0,
    graceMs: 15_000,
    graph: GRAPH,
    log: (message) => messages.push(message),
  })
  open.add(indexes)
  return indexes
}

async function end(indexes: SearchIndexes): Promise<void> {
  open.delete(indexes)
  await indexes.close()
}

/** Fills text index and graph of a space, and closes cleanly. */
async function build(space: string, source: FakeSource, textEngine: TextEngine): Promise<void> {
  const indexes = start(source, textEngine)
  await untilWhole(indexes, space, source.nodes.size)
  await end(indexes)
}

async function untilWhole(indexes: SearchIndexes, space: string, nodes = NODES): Promise<void> {
  await until(async () => {
    const { textCount, vectorCount, graphCount } = await indexes.status(space)
    return textCount === nodes && vectorCount === nodes && graphCount === nodes
  })
}

async function found(indexes: SearchIndexes, space: string, word: string): Promise<number> {
  const { textCount } = await indexes.search(space, { terms: [word], textK: NODES, vectorK: 1 })
  return textCount
}

/** Counts the sampled passages that are nearest to their own vector. */
async function nearestToThemselves(indexes: SearchIndexes, space: string, firstVector: number): Promise<number> {
  let own = 0
  for (let key = 1; key <= NODES; key += 30) {
    const vector = vectors[firstVector + key - 1]!
    const query = { terms: [], textK: 1, vectorK: 1, vector, vectorSpace: MODEL }
    const { hits } = await indexes.search(space, query)
    if (hits[0]?.key === key && Math.abs((hits[0]?.cosine ?? 0) - 1) < 0.01) own++
  }
  return own
}

describe.each(loadTantivy().binding === undefined ? ['fts5' as const] : ['tantivy' as const, 'fts5' as const])(
  'projection files of a space, text by %s',
  (textEngine) => {
    it('F32: copied from another space return no passage of it and are rebuilt', { timeout: 120_000 }, async () => {
      await build(OTHER, sourceOf('foreign', NODES, NODES + MORE), textEngine)
      const mine = sourceOf('own', 0)
      await build(MINE, mine, textEngine)
      await rm(join(dir, MINE), { recursive: true })
      await cp(join(dir, OTHER), join(dir, MINE), { recursive: true })
      messages = []

      const indexes = start(mine, textEngine)
      expect(await found(indexes, MINE, 'foreign')).toBe(0)
      expect(await found(indexes, MINE, 'own')).toBe(NODES)
      expect(await nearestToThemselves(indexes, MINE, 0)).toBe(NODES / 30)
      await untilWhole(indexes, MINE)
      expect(await found(indexes, MINE, 'foreign')).toBe(0)
      expect(await nearestToThemselves(indexes, MINE, 0)).toBe(NODES / 30)
      expect(messages.join('\n')).toContain(MINE)
    })
  },
)

/** Kinds of damage to a file. */
const DAMAGES: [string, (path: string) => Promise<void>][] = [
  ...[0, 1, 95, 96].map((length): (typeof DAMAGES)[number] => [`cut to ${length}`, (path) => truncate(path, length)]),
  ['cut in its middle', async (path) => truncate(path, Math.floor((await stat(path)).size / 2))],
  ['short of its last byte', async (path) => truncate(path, (await stat(path)).size - 1)],
  ['missing', (path) => rm(path)],
  [
    'a directory',
    async (path) => {
      await rm(path)
      await mkdir(path)
    },
  ],
]

it('F29: a vector graph with a missing file or a file of wrong length gives the same results and is rebuilt', {
  timeout: 240_000,
}, async () => {
  const source = sourceOf('own', 0)
  await build(MINE, source, 'fts5')
  const pristine = join(dir, 'pristine')
  await cp(join(dir, MINE), pristine, { recursive: true })
  const [graph = ''] = (await readdir(pristine)).filter((name) => name.startsWith('graph-'))
  const files = await readdir(join(pristine, graph))
  expect(files).toHaveLength(3)
  for (const file of files)
    for (const [name, damage] of DAMAGES) {
      await rm(join(dir, MINE), { recursive: true })
      await cp(pristine, join(dir, MINE), { recursive: true })
      await damage(join(dir, MINE, graph, file))
      const indexes = start(source, 'fts5')
      expect(await nearestToThemselves(indexes, MINE, 0), `${file} ${name}`).toBe(NODES / 30)
      await untilWhole(indexes, MINE)
      expect(await nearestToThemselves(indexes, MINE, 0), `${file} ${name}, built anew`).toBe(NODES / 30)
      await end(indexes)
    }
})
