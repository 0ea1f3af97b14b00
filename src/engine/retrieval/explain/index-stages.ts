import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { EmbeddedQuery } from '../../library/index.js'
import { MAX_K, type SearchHit, type SearchHits, type SearchRequest } from '../../search/index.js'
import type { Read } from '../../store/program.js'
import { getLastSequence } from '../../store/rows/projection-log.js'
import { getActiveVectorSpace } from '../../store/rows/vector-spaces.js'
import type { AdmittedQuery } from '../query/admission.js'
import { MAX_INDEX_CANDIDATES } from '../query/rank.js'
import { findReadingScope, recall, rescore } from '../query/recall.js'
import type { FastSearchRecord, SearchScope } from '../query/retrieval.js'
import { countVectorsOfNodes } from '../rows/explain.js'
import type { DocumentPassages } from './passages.js'
import { roundScore, type Stages } from './stages.js'

/** The search of a query, and the passages of the document to find in it. */
export interface ObservedSearch {
  admitted: AdmittedQuery
  record: FastSearchRecord
  /** terms of the query */
  terms: string[]
  passages: DocumentPassages
  /** keys of the passages in the evidence, in order */
  shown: number[]
}

/** Results of both indexes for the document, beyond the candidates of the query. */
export interface IndexProbe {
  /** the document's own passages, with their exact scores */
  own: SearchHits
  /** the best hits of the space, as many as one search returns */
  wide: SearchHits
  /** last entry that the text index has applied, and the newest one */
  watermark: { applied: number; newest: number }
}

/** Searches the indexes for the document only and, to compute ranks, for as many other hits as one search returns. */
export async function probeIndexes(
  scope: SearchScope,
  docKey: number,
  {
    terms,
    record: {
      embedding: { embedded },
    },
  }: Pick<ObservedSearch, 'terms' | 'record'>,
): Promise<IndexProbe> {
  const { context } = scope
  const { space, docs } = scope.admitted
  const request = {
    terms,
    textK: MAX_K,
    vectorK: MAX_K,
    ...omitUndefined({ vector: embedded?.vector, vectorSpace: embedded?.vectorSpaceId }),
  }
  const [{ own, wide }, status, newest] = await Promise.all([
    searchBoth(scope, { ...request, ...omitUndefined({ docs }) }, docKey),
    context.indexes.status(space.id),
    context.db.read(getLastSequence(space.key)),
  ])
  return { own, wide, watermark: { applied: status.textWatermark, newest } }
}

async function searchBoth(
  searchScope: SearchScope,
  request: SearchRequest,
  docKey: number,
): Promise<Pick<IndexProbe, 'own' | 'wide'>> {
  const { context, admitted, signal } = searchScope
  const { space } = admitted
  const scope = await context.db.read(findReadingScope(admitted))
  const search = (more: Partial<SearchRequest>) => context.indexes.search(space.id, { ...request, ...more }, signal)
  if (scope === undefined) {
    const [own, wide] = await Promise.all([search({ docs: [docKey] }), search({})])
    return { own, wide }
  }
  const { found: wide } = await recall(searchScope, request, { scope })
  const { frequencies } = wide
  const own = { ...(await search({ docs: [docKey], scope: scope.documents })), frequencies }
  const scored = { request, nodes: scope.nodes, ...omitUndefined({ average: wide.average }) }
  return { own: await rescore(context, space.key, own, scored), wide }
}

type ScoreName = 'bm25' | 'cosine'

/** The best of some passages by the score of one index. */
function findBestHit(
  hits: readonly SearchHit[],
  selected: DocumentPassages['selected'],
  leg: ScoreName,
): SearchHit | undefined {
  let best: SearchHit | undefined
  for (const hit of hits) {
    if (!selected.has(hit.key) || hit[leg] === undefined) continue
    if (best === undefined || (hit[leg] ?? 0) > (best[leg] ?? 0)) best = hit
  }
  return best
}

/** Rank of a score among hits, from 1. */
function computeRank(hits: readonly SearchHit[], leg: ScoreName, score: number): number {
  return 1 + hits.filter((hit) => (hit[leg] ?? Number.NEGATIVE_INFINITY) > score).length
}

/** The `n`-th best score of an index; undefined when there are fewer. */
function findNthScore(hits: readonly SearchHit[], leg: ScoreName, n: number): number | undefined {
  const scores = hits.flatMap((hit) => (hit[leg] === undefined ? [] : [hit[leg]]))
  return scores.sort((a, b) => b - a)[n - 1]
}

interface IndexStanding {
  rank?: number
  /** set instead of `rank` when it is beyond this, the maximum that is counted */
  rankBeyond?: number
  score: number
  limit: number
  /** score of the last candidate of the index */
  cut?: number
}

/** Rank and score of the best passage in an index, compared with the last candidate. */
function computeStanding({ found }: FastSearchRecord, wide: SearchHits, leg: ScoreName, score: number): IndexStanding {
  const candidateCount = leg === 'bm25' ? found.textCount : found.vectorCount
  const hits = candidateCount < MAX_INDEX_CANDIDATES ? found.hits : wide.hits
  const rank = computeRank(hits, leg, score)
  // One search returns at most this many: a rank beyond it is unknown.
  const isCounted = rank <= MAX_K
  const cut = findNthScore(found.hits, leg, Math.min(candidateCount, MAX_INDEX_CANDIDATES))
  return {
    ...(isCounted ? { rank } : { rankBeyond: MAX_K }),
    score: roundScore(score),
    limit: MAX_INDEX_CANDIDATES,
    ...(cut === undefined ? {} : { cut: roundScore(cut) }),
  }
}

const formatRank = (standing: { rank?: number; rankBeyond?: number }) =>
  standing.rank === undefined ? `beyond rank ${standing.rankBeyond ?? MAX_K}` : `rank ${standing.rank}`

/** Explains the text search for the selected passages. */
export function explainText(
  { record, terms, passages }: Pick<ObservedSearch, 'record' | 'terms' | 'passages'>,
  probed: IndexProbe,
  stages: Stages,
): void {
  const { found } = record
  const degraded = found.degraded.length > 0 ? { degraded: found.degraded } : {}
  if (terms.length === 0) {
    stages.addMissed('text-leg', 'not-asked', 'text search was not used: the query has no terms', degraded)
    return
  }
  const candidate = findBestHit(found.hits, passages.selected, 'bm25')
  const best = candidate ?? findBestHit(probed.own.hits, passages.selected, 'bm25')
  if (best?.bm25 === undefined) {
    if (passages.termCounts.size === 0) {
      stages.addMissed('text-leg', 'no-match', 'text search cannot find it: no term occurs', degraded)
      return
    }
    const { applied, newest } = probed.watermark
    const isBehind = applied < newest
    stages.addMissed(
      'text-leg',
      isBehind ? 'watermark-behind' : 'not-in-index',
      isBehind
        ? `the text index is out of date: it has the changes up to ${applied} of ${newest}`
        : 'the text index does not hold these passages, although their terms match',
      { ...degraded, watermark: applied, newestChange: newest },
    )
    return
  }
  const standing = computeStanding(record, probed.wide, 'bm25', best.bm25)
  const figures = { ...standing, ...degraded, engine: found.textEngine }
  if (candidate !== undefined) {
    const text = `text search puts its best passage at ${formatRank(standing)} of the ${MAX_INDEX_CANDIDATES} candidates, BM25 ${standing.score}`
    stages.addPassed('text-leg', 'candidate', text, figures)
  } else {
    const text = `text search puts its best passage at ${formatRank(standing)}, BM25 ${standing.score}: only the first ${MAX_INDEX_CANDIDATES} are candidates, down to ${standing.cut}`
    stages.addMissed('text-leg', 'beyond-limit', text, figures)
  }
}

export function* explainVectors(
  { admitted, record, passages }: ObservedSearch,
  probed: IndexProbe,
  stages: Stages,
): Read<void> {
  const { embedded, degraded } = record.embedding
  if (embedded === undefined) {
    const model = yield* getActiveVectorSpace(admitted.space)
    if (degraded !== undefined)
      stages.addMissed(
        'vector-leg',
        'embedding-failed',
        'vector search was not used: the query could not be embedded',
        {
          degraded: [degraded.reason],
        },
      )
    else if (model === undefined)
      stages.addMissed('vector-leg', 'no-model', 'vector search was not used: the space has no embedding model yet')
    else
      stages.addMissed(
        'vector-leg',
        'query-unknown',
        'vector search was not used: the model knows no word of the query',
      )
    return
  }
  const { selected } = passages
  const best = findBestHit(record.found.hits, selected, 'cosine') ?? findBestHit(probed.own.hits, selected, 'cosine')
  if (best?.cosine === undefined) {
    yield* explainMissingVector(embedded, probed, passages, stages)
    return
  }
  const standing = computeStanding(record, probed.wide, 'cosine', best.cosine)
  const figures = { ...standing, method: record.found.vectorMethod }
  if (standing.rank !== undefined && standing.rank <= MAX_INDEX_CANDIDATES) {
    const text = `vector search puts its best passage at ${formatRank(standing)} of the ${MAX_INDEX_CANDIDATES} candidates, cosine ${standing.score}`
    stages.addPassed('vector-leg', 'candidate', text, figures)
  } else {
    const text = `vector search puts its best passage at ${formatRank(standing)}, cosine ${standing.score}: only the first ${MAX_INDEX_CANDIDATES} are candidates, down to ${standing.cut}`
    stages.addMissed('vector-leg', 'beyond-limit', text, figures)
  }
}

function* explainMissingVector(
  embedded: EmbeddedQuery,
  probed: IndexProbe,
  passages: DocumentPassages,
  stages: Stages,
): Read<void> {
  const stored = yield* countVectorsOfNodes(embedded.vectorSpaceId, [...passages.selected.keys()])
  if (stored === 0) {
    const text = 'its passages have no vector: they are not embedded yet, or the model knows no word of them'
    stages.addMissed('vector-leg', 'no-vector', text, { vectors: 0 })
  } else {
    const text = `the vector index does not hold its passages yet, although ${stored} of them have a vector`
    stages.addMissed('vector-leg', 'not-in-index', text, { vectors: stored, degraded: probed.own.degraded })
  }
}

/** Reports the indexes as the cause when neither returned the document. */
export function judgeCandidacy({ record, passages }: ObservedSearch, stages: Stages): boolean {
  if (record.hits.some((hit) => passages.selected.has(hit.key))) return true
  const reasons = stages.list.filter(({ stage }) => stage === 'text-leg' || stage === 'vector-leg')
  const has = (reason: string) => reasons.some((stage) => stage.reason === reason)
  const figures = { textCandidates: record.found.textCount, vectorCandidates: record.found.vectorCount }
  const toStage = (reason: string, text: string) => ({ stage: 'fusion' as const, reason, text, figures })
  if (has('watermark-behind') || has('not-in-index'))
    stages.addFailed(
      'index-behind',
      toStage('index-behind', 'a search index does not hold the document as it is published'),
    )
  else if (has('beyond-limit'))
    stages.addFailed('beyond-candidates', toStage('no-candidate', 'neither search returned it as a candidate'))
  else if (passages.termCounts.size === 0)
    stages.addFailed(
      'no-term-in-common',
      toStage('no-candidate', 'it shares no term with the query, and has no vector near it'),
    )
  else
    stages.addFailed('index-behind', toStage('index-behind', 'the searches did not return passages that should match'))
  return false
}
