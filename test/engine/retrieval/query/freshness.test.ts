import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { computeFreshness, computeFreshnessWithFiles } from '../../../../src/engine/retrieval/query/freshness.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import { openSmallStore, type SmallStore } from '../../../helpers/store.js'
import { publish } from './small-space.js'

const YEAR_MS = 365 * 24 * 3600 * 1000

let store: SmallStore
let space: SpaceRow
let docs: number[]
beforeAll(async () => {
  store = await openSmallStore()
})
afterAll(() => store.end())
beforeEach(async () => {
  space = store.createSpace()
  await publish(store, space, { 'a.md': 'Lamp.', 'b.md': 'Keeper.' })
  docs = store
    .rows<{ key: number }>('SELECT key FROM documents WHERE space_key = ? ORDER BY key', space.key)
    .map(({ key }) => key)
})

const passage = (place: number, published_at: number, document_date: string | null = null) => ({
  doc_key: docs[place] ?? -1,
  published_at,
  document_date,
})
const fresh = (now: number, ...of: ReturnType<typeof passage>[]) => store.db.now(computeFreshness(of, now))

describe('the freshness of a passage', () => {
  it('halves with each year since the publication, and never exceeds 1', () => {
    const now = 5 * YEAR_MS
    const of = (age: number) => fresh(now, passage(0, now - age)).get(docs[0] ?? -1)
    expect(of(0)).toEqual({ state: 'fresh', score: 1 })
    expect(of(YEAR_MS)).toEqual({ state: 'fresh', score: 0.5 })
    expect(of(2 * YEAR_MS)?.score).toBeCloseTo(0.25, 10)
    expect(of(-YEAR_MS)?.score).toBe(1)
  })

  it('halves with the state stale while a newer version of the document is being compiled', () => {
    const now = 5 * YEAR_MS
    store.addJob(store.reload(space), docs[1] ?? -1)
    const found = fresh(now, passage(0, now), passage(1, now), passage(1, now))
    expect([...found]).toEqual([
      [docs[0], { state: 'fresh', score: 1 }],
      [docs[1], { state: 'stale', score: 0.5 }],
    ])
  })

  it('halves with the state stale while the web page of the document is missing in crawls', () => {
    store.run('UPDATE documents SET metadata = ? WHERE key = ?', JSON.stringify({ missingCrawls: 1 }), docs[0] ?? -1)
    store.run('UPDATE documents SET metadata = ? WHERE key = ?', JSON.stringify({ missingCrawls: 0 }), docs[1] ?? -1)
    const found = fresh(YEAR_MS, passage(0, 0), passage(1, 0))
    expect([...found.values()]).toEqual([
      { state: 'stale', score: 0.25 },
      { state: 'fresh', score: 0.5 },
    ])
  })

  it('contains no entry for an empty list of passages', async () => {
    expect(fresh(0).size).toBe(0)
    expect((await computeFreshnessWithFiles(store.context, [])).size).toBe(0)
  })
})

describe("the check of a document's local file", () => {
  const stalePaths: string[] = []
  beforeEach(() => {
    stalePaths.length = 0
    const localFiles = { onStale: (path: string) => void stalePaths.push(path) }
    store.context = { ...store.context, options: { ...store.context.options, localFiles: localFiles as never } }
  })

  /** Records the file that a document was made of. @param sha256 defaults to the one of the document */
  function backed(place: number, sha256?: string): string {
    const [row] = store.rows<{ filename: string; sha256: string }>(
      'SELECT filename, sha256 FROM documents WHERE key = ?',
      docs[place] ?? -1,
    )
    const path = join(store.dataDir, `file-${place}`)
    store.run(
      `INSERT INTO local_files (space_key, filename, path, fingerprint, device, size_bytes, sha256)
       VALUES (?, ?, ?, '', '1', 1, ?)`,
      ...[space.key, row?.filename ?? '', path, sha256 ?? row?.sha256 ?? ''],
    )
    return path
  }
  const now = async (...places: number[]) => {
    const found = await computeFreshnessWithFiles(
      store.context,
      places.map((place) => passage(place, Date.now() + YEAR_MS)),
    )
    return places.map((place) => found.get(docs[place] ?? -1))
  }

  it('reports verified if the file has the bytes that the document was made of', async () => {
    writeFileSync(backed(0), 'Lamp.')
    expect(await now(0, 1)).toEqual([
      { state: 'fresh', score: 1, file: 'verified' },
      { state: 'fresh', score: 1 },
    ])
    expect(stalePaths).toEqual([])
  })

  it('makes the document stale if the file changed or is missing, and reports the path', async () => {
    const changed = backed(0)
    writeFileSync(changed, 'Another lamp.')
    const gone = backed(1)
    expect(await now(0, 1)).toEqual([
      { state: 'stale', score: 0.5, file: 'changed' },
      { state: 'stale', score: 0.5, file: 'gone' },
    ])
    expect(stalePaths.sort()).toEqual([changed, gone])
  })

  it('does not halve the freshness of a stale document again', async () => {
    store.addJob(store.reload(space), docs[1] ?? -1)
    backed(1)
    writeFileSync(backed(0), 'Lamp.')
    store.addJob(store.reload(space), docs[0] ?? -1)
    expect(await now(0, 1)).toEqual([
      { state: 'stale', score: 0.5, file: 'verified' },
      { state: 'stale', score: 0.5, file: 'gone' },
    ])
  })
})
