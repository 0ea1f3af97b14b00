import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Derivations } from '../../../../src/engine/knowledge/derived/derivation.js'
import { PassageCache } from '../../../../src/engine/knowledge/derived/passage.js'
import type { AdmittedQuery } from '../../../../src/engine/retrieval/query/admission.js'
import { retrieveResearch } from '../../../../src/engine/retrieval/query/research.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import { openSmallStore, passages, type SmallStore } from '../../../helpers/store.js'
import { admitted, model, never, publish, restrict } from './small-space.js'

const TOWER = 'The tower of Brest is 40 metres high and was built of granite.'
const LAMP = 'The lamp of the tower was lit in 1908.'
const SEA = 'The sea is deep there and cold in winter.'
const LYON = 'The bridge of Lyon is 90 metres long.'

let store: SmallStore
let space: SpaceRow
/** Publishes documents and builds their page indexes. */
async function documents(files: Record<string, string>, more: { trained?: boolean } = {}): Promise<void> {
  space = store.createSpace()
  if (more.trained === true) model(store, space)
  await publish(store, space, files)
  expect(await new Derivations(store.context).catchUp(store.reload(space), 20_000)).toBe(0)
}
const FILES = { 'brest.md': passages(TOWER, LAMP, SEA), 'lyon.md': LYON }
let first: SpaceRow
beforeAll(async () => {
  store = await openSmallStore()
  await documents(FILES)
  first = space
})
afterAll(() => store.end())
beforeEach(() => {
  space = first
})

const research = (admitted: AdmittedQuery, query: string, signal = never) =>
  retrieveResearch({ context: store.context, cache: new PassageCache(), admitted, query, signal })
const ask = (query: string, { profile = {}, docs }: { profile?: object; docs?: number[] } = {}) =>
  research({ ...admitted(store, space, { profile }), ...(docs ? { docs } : {}) }, query)
const texts = ({ ranked }: Awaited<ReturnType<typeof ask>>) => ranked.map(({ passage }) => passage.body)
const docKey = (filename: string) =>
  store.rows<{ key: number }>('SELECT key FROM documents WHERE filename = ? AND space_key = ?', filename, space.key)[0]
    ?.key ?? -1

describe('mode research', () => {
  it('finds the passage that answers by choosing a document and a section', async () => {
    const found = await ask('How high is the tower of Brest?')
    expect(texts(found)[0]).toBe(TOWER)
    expect(found.terms).toEqual(['high', 'tower', 'brest'])
    expect(found.ranked[0]).toMatchObject({ containedTerms: ['high', 'tower', 'brest'], retrieval: 1 })
    expect(found.ranked[0]?.navigation).toMatchObject({
      documentScore: 1,
      section: 's1',
      summaryScore: expect.any(Number),
    })
    expect(found.degraded).toEqual([])
    expect(found).not.toHaveProperty('withheld')
  })

  it('returns counts of documents, ranges and passages as metrics', async () => {
    const { metrics, ranked } = await ask('How high is the tower of Brest?')
    expect(metrics).toMatchObject({
      ...{ pageIndexScoreVersion: 'page-index-1', pageIndexScannedOutlines: 2, pageIndexScannedNodes: 1 },
      ...{
        pageIndexMatchedNodes: 1,
        pageIndexOpenedRanges: 1,
        pageIndexOpenedNodes: 3,
        pageIndexCandidateTruncated: false,
      },
      ...{ pageIndexPendingDocuments: 0, summaryCandidateCount: 1, selectedDocumentCount: 1, selectedSectionCount: 1 },
      ...{ finalCandidateCount: ranked.length, permissionFilteredCount: 0, projectionFilteredCount: 0 },
      ...{ scoreThresholdFilteredCount: 0, thresholdFilteredCandidateCount: 0, metadataFilteredCount: 0 },
      ...{ ftsCandidateCount: 0, denseCandidateCount: 0, rerankCandidateCount: 0, fusionCandidateCount: 0, ftsMs: 0 },
      ...{ denseMs: 0, multimodalCandidateCount: 0, imageCandidateCount: 0, visualCandidateCount: 0 },
    })
    for (const name of ['summaryMs', 'navigationMs', 'readingMs', 'totalMs'])
      expect(metrics[name]).toBeGreaterThanOrEqual(0)
  })

  it('ranks the best passage of each range first, then the other passages of the range', async () => {
    const { ranked } = await ask('How high is the tower of Brest?')
    expect(ranked.map(({ passage }) => passage.body)).toEqual([TOWER, LAMP, SEA])
    const finals = ranked.map(({ final }) => final)
    expect(finals).toEqual([...finals].sort((a, b) => b - a))
    expect(ranked[0]?.alone).toBeCloseTo(ranked[0]?.final ?? 0, 10)
    // Only its file name contains a term.
    expect(ranked[2]?.containedTerms).toEqual(['brest'])
  })

  it('returns at most topK passages, none below the threshold of the profile', async () => {
    const query = 'tower lamp'
    const all = await ask(query)
    expect((await ask(query, { profile: { topK: 1 } })).ranked).toHaveLength(1)
    const over = (all.ranked[0]?.final ?? 0) + 0.0001
    const none = await ask(query, { profile: { scoreThreshold: over } })
    expect(none.ranked).toEqual([])
    expect(none.metrics).toMatchObject({ scoreThresholdFilteredCount: all.ranked.length, finalCandidateCount: 0 })
  })

  it('finds nothing if no document contains a term of the question', async () => {
    const found = await ask('quantum chromodynamics')
    expect(found.ranked).toEqual([])
    expect(found.metrics).toMatchObject({ pageIndexOpenedRanges: 0, selectedDocumentCount: 0 })
  })

  it('returns only passages of the documents that the query is limited to', async () => {
    const query = 'metres of tower and bridge'
    expect(texts(await ask(query))).toEqual(expect.arrayContaining([TOWER, LYON]))
    expect(texts(await ask(query, { docs: [docKey('lyon.md')] }))).toEqual([LYON])
  })

  it('returns no passage that was published after the snapshot of the query', async () => {
    await documents(FILES)
    const early = admitted(store, space)
    await publish(store, space, { 'late.md': 'The tower of Brest is 50 metres high.' })
    await new Derivations(store.context).catchUp(store.reload(space), 20_000)
    const found = await research(early, 'tower of Brest')
    expect(texts(found).join()).not.toContain('50 metres')
    expect(texts(await ask('tower of Brest')).join()).toContain('50 metres')
  })

  it('omits documents that the reader may not read, and reports them as withheld', async () => {
    await documents(FILES)
    restrict(store, space, ['brest.md'], 'eve')
    const found = await ask('How high is the tower of Brest, and how long the bridge?')
    expect(texts(found)).toEqual([LYON])
    expect(found.withheld).toEqual({ holdsMore: expect.any(Boolean) })
    expect(found.metrics).toMatchObject({ permissionFilteredCount: 1, pageIndexScannedOutlines: 1 })
    expect((await ask('How long is the bridge of Lyon?')).withheld).toBeUndefined()
  })

  it('raises the confidence of a passage whose document is named in the question', async () => {
    const text = 'Its sales rose by a fifth.'
    await documents({ 'Orion_Holdings.md': text, 'other.md': 'Nothing of it.' })
    const query = 'By how much did the sales of Orion rise in the crisis?'
    const named = (await ask(query)).ranked[0]?.alone ?? 0
    expect(named).toBeGreaterThanOrEqual(0.3)
    await documents({ 'plain.md': text, 'other.md': 'Nothing of it.' })
    expect((await ask(query)).ranked[0]?.alone ?? 0).toBeLessThan(0.3)
  })

  it('uses the term weights of the model that is trained on the space, if there is one', async () => {
    await documents(FILES, { trained: true })
    const { idf, statistics, ranked } = await ask('How high is the tower of Brest?')
    // The model in these tests uses the length of a term as its weight.
    expect([idf('tower'), idf('brest'), idf('unknown')]).toEqual([5, 5, 1])
    expect(statistics).toMatchObject({ weight: 14, nodes: 4, falloff: 0.15 })
    expect(ranked[0]?.passage.body).toBe(TOWER)
    space = first
    expect((await ask('How high is the tower of Brest?')).statistics).toMatchObject({ nodes: 2 })
  })

  it('opens the best ranges, up to 25 ranges and 200 passages', async () => {
    const many = Array.from({ length: 264 }, (_, n) =>
      n % 8 === 0 ? `Tower number ${n} of Brest.` : `Wall number ${n}.`,
    )
    await documents({ 'many.md': passages(...many) })
    const { metrics } = await ask('tower of Brest', { profile: { topK: 50 } })
    expect(metrics).toMatchObject({
      pageIndexScannedNodes: 33,
      pageIndexMatchedNodes: 33,
      pageIndexCandidateTruncated: true,
    })
    expect(metrics.pageIndexOpenedRanges).toBe(25)
    expect(metrics.pageIndexOpenedNodes).toBe(200)
  })

  it('stops with the abort reason if the query was aborted', async () => {
    const gone = new AbortController()
    gone.abort(new Error('gone'))
    await expect(research(admitted(store, space), 'tower', gone.signal)).rejects.toThrow('gone')
  })
})
