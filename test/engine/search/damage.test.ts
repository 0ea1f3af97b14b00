import { mkdtemp, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { createSearchIndexes } from '../../../src/engine/search/indexes.js'
import type { SearchIndexes } from '../../../src/engine/search/ports.js'
import { openTantivy } from '../../../src/engine/search/tantivy.js'
import { loadTantivy } from '../../../src/engine/search/tantivy-binding.js'
import { DamagedIndexError, type TextEngine } from '../../../src/engine/search/text-index.js'
import { FakeSource, followBatch } from './fake-source.js'
import { seeded } from './random.js'

const SPACE = '0190a1b2-0000-7000-8000-000000000002'
const NODES = 300
const { binding, reason } = loadTantivy()

let dir = ''
let source: FakeSource
let messages: string[] = []
let open: SearchIndexes | undefined

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'ks-damage-'))
  messages = []
  source = new FakeSource()
})
afterEach(async () => {
  await open?.close()
  removeFolder(dir)
})

function start(textEngine: TextEngine): SearchIndexes {
  open = createSearchIndexes({
    dir,
    source,
    textEngine,
    watermarkLagMs: 0,
    graceMs: 10_000,
    log: (message) => messages.push(message),
  })
  return open
}

/** Makes three commits, one of them with deletions, and closes the index cleanly. */
async function build(textEngine: TextEngine): Promise<string> {
  const indexes = start(textEngine)
  for (let part = 0; part < 3; part++) {
    const add = Array.from({ length: NODES / 3 }, (_, i) => {
      const key = part * (NODES / 3) + i + 1
      return { key, doc: key % 7, title: `Part ${part}`, body: `common word number${key}` }
    })
    await followBatch(indexes, SPACE, source.commit(add))
  }
  await followBatch(indexes, SPACE, source.commit([], [11, 120]))
  await indexes.close()
  return join(dir, SPACE, textEngine)
}

async function expectWhole(indexes: SearchIndexes): Promise<void> {
  const found = await indexes.search(SPACE, { terms: ['common'], textK: 1_000, vectorK: 1 })
  expect(found).toMatchObject({ textCount: NODES - 2, degraded: [] })
  for (const key of [1, 150, 300]) {
    const { hits } = await indexes.search(SPACE, { terms: [`number${key}`], textK: 5, vectorK: 1 })
    expect(hits.map((hit) => hit.key)).toEqual([key])
  }
  expect(await indexes.status(SPACE)).toMatchObject({ textCount: NODES - 2, textWatermark: 4 })
}

async function flipBit(path: string, random: () => number): Promise<void> {
  const bytes = await readFile(path)
  const at = Math.floor(random() * bytes.length)
  bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random() * 8))
  await writeFile(path, bytes)
}

describe.skipIf(binding === undefined)(`damaged files of a text index (${reason || 'tantivy'})`, () => {
  const content = (names: string[]) => names.filter((name) => !name.endsWith('.lock')).sort()

  it('F28: cause an error before Tantivy reads them, whichever bit is flipped', async () => {
    const path = await build('tantivy')
    const random = seeded(21)
    let noticed = 0
    for (const name of content(await readdir(path))) {
      // These are no segment files; a damaged watermark only makes the replay longer.
      if (name.endsWith('.json')) continue
      const whole = await readFile(join(path, name))
      for (let round = 0; round < 6; round++) {
        await flipBit(join(path, name), random)
        if (binding === undefined) throw new Error(reason)
        await expect(openTantivy(binding, path, { log: () => {}, watermarkLagMs: 0 })).rejects.toThrow(
          DamagedIndexError,
        )
        noticed++
        await writeFile(join(path, name), whole)
      }
    }
    expect(noticed).toBeGreaterThan(40)
    await expectWhole(start('tantivy'))
    expect(messages).toEqual([])
  })

  it.each([0, 1, 2, 3, 4, 5])('F30: cause a complete rebuild from the source: round %i', async (round) => {
    const path = await build('tantivy')
    const random = seeded(100 + round)
    const names = content(await readdir(path))
    const name =
      round === 0 ? 'meta.json' : round === 1 ? 'watermark.json' : (names[Math.floor(random() * names.length)] ?? '')
    const { size } = await stat(join(path, name))
    if (round % 2 === 0) await truncate(join(path, name), Math.floor(size * random()))
    else await flipBit(join(path, name), random)
    await expectWhole(start('tantivy'))
    expect(await readdir(dir)).not.toContain('quarantine')
  })

  it('with false values in meta.json do not prevent a later change from being indexed and found', async () => {
    const path = await build('tantivy')
    const meta = await readFile(join(path, 'meta.json'), 'utf8')
    await writeFile(join(path, 'meta.json'), meta.replace(/"max_doc": (\d+)/, '"max_doc": 9$1'))
    const indexes = start('tantivy')
    await indexes.search(SPACE, { terms: ['common'], textK: 1_000, vectorK: 1 }).catch(() => {})
    await followBatch(indexes, SPACE, source.commit([{ key: 900, doc: 1, title: '', body: 'later' }]))
    const { hits } = await indexes.search(SPACE, { terms: ['later'], textK: 5, vectorK: 1 })
    expect(hits.map((hit) => hit.key)).toEqual([900])
  })

  it('move to the quarantine folder, which keeps only one copy after repeated damage', async () => {
    const path = await build('tantivy')
    for (let round = 0; round < 2; round++) {
      await truncate(join(path, 'meta.json'), 10)
      await expectWhole(start('tantivy'))
      await open?.close()
    }
    expect(await readdir(join(dir, SPACE))).toEqual(expect.arrayContaining(['quarantine', 'tantivy']))
    expect(await readdir(join(dir, SPACE, 'quarantine'))).toEqual(['index'])
  })
})

describe('a damaged FTS5 file', () => {
  it.each([
    ['cut in half', async (path: string) => truncate(path, Math.floor((await stat(path)).size / 2))],
    ['cut to nothing', async (path: string) => truncate(path, 0)],
    [
      'overwritten at its head',
      async (path: string) => writeFile(path, 'this is not a database, but a sentence of text'),
    ],
    [
      'overwritten in its middle',
      async (path: string) => {
        const bytes = await readFile(path)
        bytes.fill(0x5a, bytes.length / 4, bytes.length / 2)
        await writeFile(path, bytes)
      },
    ],
  ])('causes a rebuild when %s', async (_, damage) => {
    const path = await build('fts5')
    await damage(join(path, 'index.sqlite'))
    await expectWhole(start('fts5'))
  })

  it('never ends the index process, whichever bit is flipped', async () => {
    const path = join(await build('fts5'), 'index.sqlite')
    const whole = await readFile(path)
    const random = seeded(5)
    for (let round = 0; round < 5; round++) {
      await writeFile(path, whole)
      await flipBit(path, random)
      const indexes = start('fts5')
      const found = await indexes.search(SPACE, { terms: ['common'], textK: 1_000, vectorK: 1 })
      expect(found.hits.length).toBeGreaterThan(0)
      expect(indexes.pid()).toBeDefined()
      await indexes.close()
    }
  })
})
