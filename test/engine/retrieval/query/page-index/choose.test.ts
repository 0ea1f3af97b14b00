import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { PageIndexBuilder } from '../../../../../src/engine/knowledge/derived/page-index/build.js'
import { packPageIndex } from '../../../../../src/engine/knowledge/derived/page-index/store.js'
import { termHash } from '../../../../../src/engine/knowledge/derived/passage.js'
import { chooseDocuments } from '../../../../../src/engine/retrieval/query/page-index/choose.js'
import { storePageIndexes } from '../../../../../src/engine/store/rows/page-indexes.js'
import type { SpaceRow } from '../../../../../src/engine/store/rows/spaces.js'
import { openSmallStore, type SmallStore } from '../../../../helpers/store.js'
import { admitted, never, publish } from '../small-space.js'

let store: SmallStore
let space: SpaceRow
beforeAll(async () => {
  store = await openSmallStore()
})
afterAll(() => store.end())
beforeEach(() => {
  space = store.createSpace()
})

interface Version {
  key: number
  doc_key: number
  filename: string
}
const versions = () =>
  store.rows<Version>(
    'SELECT v.key, v.doc_key, d.filename FROM versions v JOIN documents d ON d.key = v.doc_key WHERE d.space_key = ? ORDER BY v.key',
    space.key,
  )

/** Publishes documents with their page indexes. */
async function documents(texts: Record<string, string>): Promise<void> {
  await publish(store, space, texts)
  for (const { key, doc_key, filename } of versions()) {
    const builder = new PageIndexBuilder(filename.replace('.md', ''))
    builder.add({ key, text: texts[filename] ?? '', section: [], outlineNode: 's', page: null })
    const packed = await packPageIndex(builder.finish())
    store.write(() => storePageIndexes(space.key, [{ docKey: doc_key, versionKey: key, packed }]))
  }
}

const term = (name: string, weight = 1) => ({ term: name, hash: termHash(name), weight })
interface ChoiceOptions {
  terms?: ReturnType<typeof term>[]
  known?: ReadonlyMap<string, number>
  docs?: number[]
  except?: Set<number>
  signal?: AbortSignal
}
const choose = ({
  terms = [term('lamp'), term('iron')],
  known,
  docs,
  except = new Set(),
  signal = never,
}: ChoiceOptions = {}) =>
  chooseDocuments(
    { context: store.context, admitted: { ...admitted(store, space), ...(docs && { docs }) }, signal },
    { terms, known, except },
  )
const names = ({ chosen }: Awaited<ReturnType<typeof choose>>) => {
  const known = new Map(versions().map(({ key, filename }) => [key, filename.replace('.md', '')]))
  return chosen.map(({ versionKey }) => known.get(versionKey))
}
/** Score of a term with this number of occurrences in a document of this number of terms. */
const densityScore = (count: number, length: number) => {
  const density = (10_000 * count) / length
  return density / (density + 5)
}
const weight = (scanned: number, holding: number) => Math.log(1 + (scanned - holding + 0.5) / (holding + 0.5))

describe('the choice of documents for research', () => {
  it('selects documents that contain a term of the question, the best one first', async () => {
    await documents({ one: 'lamp glass', two: 'glass sea', three: 'lamp iron glass' })
    const choice = await choose({ docs: versions().map(({ doc_key }) => doc_key) })
    expect(names(choice)).toEqual(['three', 'one'])
    expect(names(await choose())).toEqual(['three'])
    expect(choice).toMatchObject({ scanned: 3, matched: 2, truncated: false })
    expect(choice.frequencies).toEqual([2, 1])
    expect(choice.weights[0]).toBeCloseTo(weight(3, 2), 10)
    expect(choice.weights[1]).toBeCloseTo(weight(3, 1), 10)
    const score = weight(3, 2) * densityScore(1, 3) + weight(3, 1) * densityScore(1, 3)
    expect(choice.chosen[0]?.score).toBe(1)
    expect(choice.chosen[1]?.score).toBeCloseTo((weight(3, 2) * densityScore(1, 2)) / score, 10)
    expect(choice.chosen[0]?.docKey).toBe(versions()[2]?.doc_key)
  })

  it('selects nothing from an empty space', async () => {
    expect(await choose()).toEqual({
      ...{ chosen: [], scanned: 0, matched: 0, truncated: false, weights: [Math.log(2), Math.log(2)] },
      frequencies: [0, 0],
    })
  })

  it('prefers documents with a higher density of the terms', async () => {
    const rare = `lamp ${'glass '.repeat(4999)}`
    await documents({ rare, dense: 'lamp glass' })
    const [best, other] = (await choose({ terms: [term('lamp')] })).chosen
    expect(best?.versionKey).toBe(versions()[1]?.key)
    // One in 5,000 is two in 10,000.
    expect(other).toBeUndefined()
    const known = new Map([['lamp', 1]])
    const both = await choose({ terms: [term('lamp')], known, docs: versions().map(({ doc_key }) => doc_key) })
    expect(both.chosen[1]?.score).toBeCloseTo(densityScore(1, 5000) / densityScore(1, 2), 10)
    expect(densityScore(1, 5000)).toBeCloseTo(2 / 7, 10)
  })

  it('prefers documents that are named after a term of the question', async () => {
    await documents({ lamp: 'glass sea', plain: 'lamp lamp glass' })
    const choice = await choose({ known: new Map([['lamp', 1]]) })
    expect(names(choice)).toEqual(['lamp', 'plain'])
    expect(choice.chosen[0]?.named).toEqual(new Set([termHash('lamp')]))
    expect(choice.chosen[1]?.named).toEqual(new Set())
    expect(choice.chosen[1]?.score).toBeCloseTo(densityScore(2, 3) / 1.5, 10)
    expect(choice.weights[0]).toBe(1)
    // A document with the term in its name counts as one that contains it.
    expect((await choose()).weights[0]).toBeCloseTo(weight(2, 2), 10)
  })

  it('weighs terms by the term weights of the space and by their weight in the question', async () => {
    await documents({ one: 'lamp glass', two: 'iron glass' })
    const known = new Map([
      ['lamp', 1],
      ['iron', 1.2],
    ])
    expect(names(await choose({ known }))).toEqual(['two', 'one'])
    expect(names(await choose({ known, terms: [term('lamp'), term('iron', 0.8)] }))).toEqual(['one', 'two'])
  })

  it('drops documents with less than half of the best score, unless the query is limited to them', async () => {
    await documents({ one: 'lamp glass', two: 'iron glass' })
    const [first, second] = versions()
    const at = (share: number) => ({
      known: new Map([
        ['lamp', 1],
        ['iron', share],
      ]),
    })
    expect(names(await choose(at(0.51)))).toEqual(['one', 'two'])
    expect(await choose(at(0.5))).toMatchObject({ chosen: [{}, { score: 0.5 }], truncated: false })
    expect(names(await choose(at(0.49)))).toEqual(['one'])
    const docs = [first?.doc_key ?? -1, second?.doc_key ?? -1]
    expect(names(await choose({ ...at(0.1), docs }))).toEqual(['one', 'two'])
    expect(names(await choose({ docs: docs.slice(1) }))).toEqual(['two'])
  })

  it('puts the newer of two documents with equal scores first', async () => {
    await documents({ one: 'lamp', two: 'lamp' })
    expect(names(await choose())).toEqual(['two', 'one'])
  })

  it('skips excluded documents', async () => {
    await documents({ one: 'lamp', two: 'lamp' })
    const [first] = versions()
    const except = new Set([first?.doc_key ?? -1])
    const choice = await choose({ except })
    expect(names(choice)).toEqual(['two'])
    expect(choice).toMatchObject({ scanned: 1, matched: 1 })
    expect((await choose({ except, docs: [first?.doc_key ?? -1] })).chosen).toEqual([])
  })

  it('selects at most sixteen documents, and at most 6,000 page ranges in total', async () => {
    await documents(Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`d${n}`, 'lamp glass'])))
    const many = await choose()
    expect(many.chosen).toHaveLength(16)
    expect(many).toMatchObject({ matched: 17, truncated: true })
    const ranges = (count: number) =>
      store.run('UPDATE page_index SET range_count = ? WHERE space_key = ?', count, space.key)
    ranges(2000)
    expect(await choose()).toMatchObject({ chosen: [{}, {}, {}], truncated: true })
    ranges(7000)
    expect(await choose()).toMatchObject({ chosen: [{}], truncated: true })
  })

  it('gives score 0 if every term has weight 0', async () => {
    await documents({ one: 'lamp' })
    const choice = await choose({ known: new Map([['lamp', 0]]) })
    expect(choice.chosen.map(({ score }) => score)).toEqual([0])
  })
})

describe('the choice of documents for research from a large space', () => {
  /** Multiplies the page index of the only document. */
  function copies(count: number): void {
    store.run('PRAGMA foreign_keys = OFF')
    const columns = (table: string, key: string) =>
      store
        .rows<{ name: string }>(`SELECT name FROM pragma_table_info('${table}')`)
        .map(({ name }) => name)
        .filter((name) => name !== key)
        .join(', ')
    const [only] = versions()
    const series = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`
    const base = 1_000_000 * space.key
    const own = columns('versions', 'key')
      .replace(/\bid\b/, "'v' || (? + i)")
      .replace(/\bversion\b/, '1000 + i')
    store.run(
      `${series} INSERT INTO versions (key, ${columns('versions', 'key')}) SELECT ? + i, ${own} FROM versions, n WHERE key = ?`,
      ...[base, ...(own.includes('?') ? [base] : []), only?.key ?? -1],
    )
    store.run(
      `${series} INSERT INTO page_index (version_key, ${columns('page_index', 'version_key')})
       SELECT ? + i, ${columns('page_index', 'version_key')} FROM page_index, n WHERE version_key = ?`,
      ...[base, only?.key ?? -1],
    )
  }

  it('scans all documents in batches, but at most the newest 20,000', async () => {
    await documents({ one: 'lamp' })
    copies(999)
    expect(await choose()).toMatchObject({ scanned: 1000, matched: 1000, truncated: true })
    space = store.createSpace()
    await documents({ one: 'sea' })
    copies(1000)
    expect(await choose()).toMatchObject({ scanned: 1001, matched: 0, truncated: false })
    space = store.createSpace()
    await documents({ one: 'sea' })
    copies(20_500)
    expect(await choose()).toMatchObject({ scanned: 20_000, matched: 0, truncated: true })
  })

  it('stops with the abort reason if the query was aborted', async () => {
    await documents({ one: 'lamp' })
    copies(1500)
    const gone = new AbortController()
    gone.abort(new Error('gone'))
    await expect(choose({ signal: gone.signal })).rejects.toThrow('gone')
  })
})
