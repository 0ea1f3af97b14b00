import { describe, expect, it } from 'vitest'
import { assembleEvidence } from '../../../../src/engine/retrieval/query/assemble-evidence.js'
import type { RankedPassage } from '../../../../src/engine/retrieval/query/evidence.js'
import type { Freshness } from '../../../../src/engine/retrieval/query/freshness.js'
import type { RetrievalResult } from '../../../../src/engine/retrieval/query/retrieval.js'
import type { PassageRow } from '../../../../src/engine/store/rows/queries.js'
import { analyzeQuery } from '../../../../src/lib/text/analyze.js'

const QUESTION = 'How high is the tower of Brest?'
const FEATURES = {
  ...{ coverage: 1, titleCoverage: 0, bodyCoverage: 1, sentenceCoverage: 1, strength: 0.5, pairs: 0.5, earliness: 1 },
}
let keys = 0
const passage = (body: string, more: Partial<RankedPassage> = {}, row: Partial<PassageRow> = {}): RankedPassage => {
  const key = ++keys
  return {
    passage: {
      ...{
        key,
        doc_key: key,
        id: `n${key}`,
        title: '',
        body,
        section: '[]',
        start_offset: 0,
        end_offset: 9,
        page: null,
      },
      ...{
        kind: 'text',
        shows: null,
        ocr_pages: null,
        transcript_by: null,
        ordinal: 0,
        document_id: `d${key}`,
        filename: `f${key}.md`,
        document_title: '',
        version: 1,
      },
      ...{ artifact_hash: 'h', published_at: 0, document_date: null, author: null },
      ...{ source_id: null, source_url: null, external: 0 },
      ...row,
    },
    ...{ final: 0.9, retrieval: 1, features: FEATURES, containedTerms: ['high', 'tower', 'brest'] },
    ...more,
  }
}
const TOWER = 'The tower of Brest is 40 metres high.'

interface EvidenceOptions {
  query?: string
  fresh?: Map<number, Freshness>
  topK?: number
  agree?: (one: string, other: string) => boolean
  retrieved?: Partial<RetrievalResult>
}
function evidence(
  ranked: RankedPassage[],
  { query = QUESTION, fresh = new Map(), topK, agree, retrieved = {} }: EvidenceOptions = {},
) {
  const found: RetrievalResult = {
    ...{ ranked, terms: analyzeQuery(query), idf: () => 3, metrics: {}, degraded: [] },
    statistics: { weight: 9, nodes: 100, falloff: 0 },
    ...retrieved,
  }
  const request = {
    query,
    traceId: 't',
    now: Date.now(),
    freshness: fresh,
    ...(topK && { topK }),
    ...(agree && { agree }),
  }
  return assembleEvidence(request, found)
}
const missing = (bundle: ReturnType<typeof evidence>) =>
  bundle.missingEvidence.map(({ reason, text }) => `${reason}: ${text}`)

describe('the assembled evidence of a query', () => {
  it('lists the passages in their order, each with the reason why it was selected', () => {
    const bundle = evidence([
      passage(TOWER),
      passage('The tower of Brest is white.', { containedTerms: ['tower', 'brest'], final: 0.5 }),
    ])
    expect(bundle).toMatchObject({ query: QUESTION, traceId: 't', state: 'answerable', missingEvidence: [] })
    expect(bundle.items.map(({ text }) => text)).toEqual([TOWER, 'The tower of Brest is white.'])
    expect(bundle.items.map(({ metadata }) => metadata.why)).toMatchObject([
      { by: 'words', words: ['high', 'tower', 'Brest'], adds: ['high', 'tower', 'Brest'] },
      { by: 'words', words: ['tower', 'Brest'], adds: [] },
    ])
    expect(bundle.items.map(({ freshness }) => freshness)).toEqual(['unknown', 'unknown'])
    expect(Math.abs(Date.now() - Date.parse(bundle.createdAt))).toBeLessThan(60_000)
    expect(evidence([]).id).not.toBe(evidence([]).id)
  })

  it('lists the missing terms if the passages do not answer the question', () => {
    const none = evidence([])
    expect(none.state).toBe('not-enough-evidence')
    expect(none.missingEvidence).toMatchObject([
      { reason: 'not-retrieved', metadata: { terms: ['high', 'tower', 'Brest'] } },
    ])
    const partial = evidence([passage('The tower is white.', { containedTerms: ['tower'], final: 0.8 })])
    expect(partial.state).toBe('partial')
    expect(partial.missingEvidence).toMatchObject([{ reason: 'not-retrieved', metadata: { terms: ['high', 'Brest'] } }])
    // The passage is about another tower, and the score is low.
    expect(evidence([passage('The tower is white.', { containedTerms: ['tower'], final: 0.3 })]).state).toBe(
      'not-enough-evidence',
    )
  })

  it('ends after the last relevant passage if topK is at most 10', () => {
    const poor = { ...FEATURES, sentenceCoverage: 0, strength: 0.001, pairs: 0 }
    const ranked = [passage(TOWER), passage('Nothing.', { final: 0.01, features: poor, containedTerms: [] })]
    expect(evidence(ranked, { topK: 10 }).items).toHaveLength(1)
    expect(evidence(ranked, { topK: 11 }).items).toHaveLength(2)
    expect(evidence(ranked).items).toHaveLength(2)
  })

  it('reports permission-limited if withheld documents contain a better answer', () => {
    const of = (ranked: RankedPassage[], holdsMore: boolean) =>
      evidence(ranked, { retrieved: { withheld: { holdsMore } } })
    const empty = of([], false)
    expect(empty.state).toBe('permission-limited')
    expect(missing(empty)).toEqual([
      'permission-filtered: a passage that answers was omitted: you may not read its source',
    ])
    expect(evidence([]).missingEvidence.map(({ reason }) => reason)).toEqual(['not-retrieved'])
    const answered = of([passage(TOWER)], false)
    expect([answered.state, answered.missingEvidence]).toEqual(['answerable', []])
    // The visible passage only resembles the withheld one.
    expect(of([passage(TOWER)], true).state).toBe('permission-limited')
  })

  it('reports stale evidence once for each document, with the cause', () => {
    const stale = (doc: number, file?: Freshness['file']): [number, Freshness] => [
      doc,
      { state: 'stale', score: 0.5, ...(file && { file }) },
    ]
    const row = (doc_key: number) => ({ doc_key, filename: `f${doc_key}.md` })
    const ranked = [
      passage(TOWER, {}, row(1)),
      passage(TOWER, {}, row(1)),
      passage(TOWER, {}, row(2)),
      passage(TOWER, {}, row(3)),
      passage(TOWER, {}, row(4)),
    ]
    const fresh = new Map([
      stale(1),
      stale(2, 'changed'),
      stale(3, 'gone'),
      [4, { state: 'fresh', score: 1 }] as [number, Freshness],
    ])
    const bundle = evidence(ranked, { fresh })
    expect(missing(bundle)).toEqual([
      'stale: a newer version of f1.md is not published yet',
      'stale: the file of f2.md changed since it was ingested',
      'stale: the file of f3.md is gone',
    ])
    expect(bundle.missingEvidence[0]?.metadata).toEqual({ nodeId: bundle.items[0]?.nodeId })
    expect(bundle.items.map(({ freshness }) => freshness)).toEqual(['stale', 'stale', 'stale', 'stale', 'fresh'])
    const verified = new Map([stale(1, 'verified')])
    expect(missing(evidence(ranked.slice(0, 1), { fresh: verified }))).toEqual([
      'stale: a newer version of f1.md is not published yet',
    ])
  })

  it('becomes conflict if passages contradict each other, and keeps both passages', () => {
    const other = 'The tower of Brest is 50 metres high.'
    const poor = { ...FEATURES, sentenceCoverage: 1, strength: 0.001, pairs: 0 }
    const ranked = [
      passage(TOWER),
      passage(other, { final: 0.6 }),
      passage('The tower of Brest.', { final: 0.01, features: poor }),
    ]
    const bundle = evidence(ranked, { topK: 10 })
    const [one, two] = bundle.items
    expect(bundle.state).toBe('conflict')
    expect(one?.conflicts).toMatchObject([
      { nodeId: two?.nodeId, reason: 'different numbers: 40 metres and 50 metres' },
    ])
    expect(two?.conflicts).toMatchObject([{ nodeId: one?.nodeId }])
    expect(bundle.missingEvidence).toEqual([
      {
        reason: 'conflict',
        text: 'nothing was found that decides between passages that contradict each other',
        metadata: { nodeIds: [one?.nodeId, two?.nodeId] },
      },
    ])
    expect(evidence(ranked, { agree: () => true }).state).toBe('answerable')
    expect(evidence(ranked, { agree: () => false }).state).toBe('conflict')
  })

  it('reports an unavailable index if no passage answers the question', () => {
    const degraded = [{ part: 'text-index', class: 'unavailable', reason: 'it is being rebuilt' } as const]
    expect(evidence([], { retrieved: { degraded } }).missingEvidence.at(-1)).toEqual({
      reason: 'unknown',
      text: 'a part of the space could not be searched',
      metadata: { reasons: ['it is being rebuilt'] },
    })
    expect(evidence([passage(TOWER)], { retrieved: { degraded } }).missingEvidence).toEqual([])
  })

  it('counts as answerable if a passage contains rewordings of the terms of the question', () => {
    const rewordings = [{ queryTerms: ['high', 'tower'], documentTerms: ['belfri'] }]
    const query = 'Who owns the high tower?'
    const others = ['The boats are white.', 'Dogs may swim.', 'We moved to Cork.', 'Press twice.'].map((text) =>
      passage(text, { final: 0.2, containedTerms: [] }),
    )
    const ranked = [passage('Ida Keller owns the belfry.', { containedTerms: ['belfri', 'own'] }), ...others]
    expect(evidence(ranked, { query, retrieved: { rewordings: rewordings as never } }).state).toBe('answerable')
    expect(evidence(ranked, { query }).state).toBe('partial')
  })
})
