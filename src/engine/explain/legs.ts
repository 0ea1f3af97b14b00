import { defined } from '../../lib/defined.js'
import type { EmbeddedQuery } from '../compile/embeddings.js'
import type { EngineContext } from '../context.js'
import type { Admitted } from '../query/admission.js'
import type { FastRecord, QueryEmbedding } from '../query/fast.js'
import { LEG_CANDIDATES } from '../query/rank.js'
import { readingScope } from '../query/reading-scope.js'
import { recall, rescore } from '../query/recall.js'
import { vectorCount } from '../rows/explain.js'
import { lastSequence } from '../rows/projection-log.js'
import { activeVectorSpace } from '../rows/vector-spaces.js'
import { MAX_K } from '../search/limits.js'
import type { SearchHit, SearchHits, SearchRequest } from '../search/ports.js'
import type { Read } from '../storage/program.js'
import type { Passages } from './passages.js'
import { failed, missed, passed, round, type Stages } from './stages.js'

/** Results of both indexes for the document, beyond the candidates of the query. */
export interface Probe {
  /** the document's own passages, with their exact scores */
  own: SearchHits
  /** the best hits of the space, as many as one search returns */
  wide: SearchHits
  /** last entry that the text index has applied, and the newest one */
  watermark: { applied: number; newest: number }
}

/** Searches the indexes for the document only and, to compute ranks, for as many other hits as one search returns. */
export async function probe(
  context: EngineContext,
  admitted: Admitted,
  docKey: number,
  terms: string[],
  embedded: EmbeddedQuery | undefined,
  signal: AbortSignal,
): Promise<Probe> {
  const { space, docs } = admitted
  const request = {
    terms,
    textK: MAX_K,
    vectorK: MAX_K,
    ...defined({ vector: embedded?.vector, vectorSpace: embedded?.vectorSpaceId }),
  }
  const [{ own, wide }, status, newest] = await Promise.all([
    searchBoth(context, admitted, { ...request, ...defined({ docs }) }, docKey, signal),
    context.indexes.status(space.id),
    context.db.read(lastSequence(space.key)),
  ])
  return { own, wide, watermark: { applied: status.textWatermark, newest } }
}

async function searchBoth(
  context: EngineContext,
  admitted: Admitted,
  request: SearchRequest,
  docKey: number,
  signal: AbortSignal,
): Promise<Pick<Probe, 'own' | 'wide'>> {
  const { space } = admitted
  const scope = await context.db.read(readingScope(admitted))
  const search = (more: Partial<SearchRequest>) => context.indexes.search(space.id, { ...request, ...more }, signal)
  if (scope === undefined) {
    const [own, wide] = await Promise.all([search({ docs: [docKey] }), search({})])
    return { own, wide }
  }
  const { found: wide } = await recall(context, admitted, request, { scope }, signal)
  const { frequencies } = wide
  const own = { ...(await search({ docs: [docKey], scope: scope.documents })), frequencies }
  const scored = { request, nodes: scope.nodes, ...defined({ average: wide.average }) }
  return { own: await rescore(context, space.key, own, scored), wide }
}

type Leg = 'bm25' | 'cosine'

/** The best of some passages by the score of one index. */
function bestOf(hits: readonly SearchHit[], meant: Passages['meant'], leg: Leg): SearchHit | undefined {
  let best: SearchHit | undefined
  for (const hit of hits) {
    if (!meant.has(hit.key) || hit[leg] === undefined) continue
    if (best === undefined || (hit[leg] ?? 0) > (best[leg] ?? 0)) best = hit
  }
  return best
}

/** Rank of a score among hits, from 1. */
function rankOf(hits: readonly SearchHit[], leg: Leg, score: number): number {
  return 1 + hits.filter((hit) => (hit[leg] ?? Number.NEGATIVE_INFINITY) > score).length
}

/** The `n`-th best score of an index; undefined when there are fewer. */
function cutAt(hits: readonly SearchHit[], leg: Leg, n: number): number | undefined {
  const scores = hits.flatMap((hit) => (hit[leg] === undefined ? [] : [hit[leg]]))
  return scores.sort((a, b) => b - a)[n - 1]
}

interface Standing {
  rank?: number
  /** set instead of `rank` when it is beyond this, the maximum that is counted */
  rankBeyond?: number
  score: number
  limit: number
  /** score of the last candidate of the index */
  cut?: number
}

/** Rank and score of the best passage in an index, compared with the last candidate. */
function standing(record: FastRecord, wide: SearchHits, leg: Leg, score: number, taken: number): Standing {
  const hits = taken < LEG_CANDIDATES ? record.found.hits : wide.hits
  const rank = rankOf(hits, leg, score)
  // One search returns at most this many: a rank beyond it is unknown.
  const counted = rank <= MAX_K
  const cut = cutAt(record.found.hits, leg, Math.min(taken, LEG_CANDIDATES))
  return {
    ...(counted ? { rank } : { rankBeyond: MAX_K }),
    score: round(score),
    limit: LEG_CANDIDATES,
    ...(cut === undefined ? {} : { cut: round(cut) }),
  }
}

const placeText = (at: { rank?: number; rankBeyond?: number }) =>
  at.rank === undefined ? `beyond rank ${at.rankBeyond ?? MAX_K}` : `rank ${at.rank}`

/** Explains the text search for the selected passages. */
export function explainText(
  record: FastRecord,
  probed: Probe,
  passages: Passages,
  terms: readonly string[],
  stages: Stages,
): void {
  const { found } = record
  const degraded = found.degraded.length > 0 ? { degraded: found.degraded } : {}
  if (terms.length === 0) {
    missed(stages, 'text-leg', 'not-asked', 'text search was not asked: the query has no terms', degraded)
    return
  }
  const taken = bestOf(found.hits, passages.meant, 'bm25')
  const best = taken ?? bestOf(probed.own.hits, passages.meant, 'bm25')
  if (best?.bm25 === undefined) {
    if (passages.termCounts.size === 0) {
      missed(stages, 'text-leg', 'no-match', 'text search cannot find it: no term occurs', degraded)
      return
    }
    const { applied, newest } = probed.watermark
    const behind = applied < newest
    missed(
      stages,
      'text-leg',
      behind ? 'watermark-behind' : 'not-in-index',
      behind
        ? `the text index is behind: it holds the changes up to ${applied} of ${newest}`
        : 'the text index does not hold these passages, although their terms match',
      { ...degraded, watermark: applied, newestChange: newest },
    )
    return
  }
  const at = standing(record, probed.wide, 'bm25', best.bm25, found.textCount)
  const figures = { ...at, ...degraded, engine: found.textEngine }
  if (taken !== undefined) {
    const text = `text search puts its best passage at ${placeText(at)} of the ${LEG_CANDIDATES} candidates, BM25 ${at.score}`
    passed(stages, 'text-leg', 'candidate', text, figures)
  } else {
    const text = `text search puts its best passage at ${placeText(at)}, BM25 ${at.score}: only the first ${LEG_CANDIDATES} are candidates, down to ${at.cut}`
    missed(stages, 'text-leg', 'beyond-limit', text, figures)
  }
}

export function* explainVectors(
  admitted: Admitted,
  embedding: QueryEmbedding,
  record: FastRecord,
  probed: Probe,
  passages: Passages,
  stages: Stages,
): Read<void> {
  const { embedded, degraded } = embedding
  if (embedded === undefined) {
    const model = yield* activeVectorSpace(admitted.space)
    if (degraded !== undefined)
      missed(stages, 'vector-leg', 'embedding-failed', 'vector search was not asked: the query could not be embedded', {
        degraded: [degraded.reason],
      })
    else if (model === undefined)
      missed(stages, 'vector-leg', 'no-model', 'vector search was not asked: the space has no embedding model yet')
    else
      missed(stages, 'vector-leg', 'query-unknown', 'vector search was not asked: the model knows no word of the query')
    return
  }
  const best = bestOf(record.found.hits, passages.meant, 'cosine') ?? bestOf(probed.own.hits, passages.meant, 'cosine')
  if (best?.cosine === undefined) {
    yield* missingVector(embedded, probed, passages, stages)
    return
  }
  const at = standing(record, probed.wide, 'cosine', best.cosine, record.found.vectorCount)
  const figures = { ...at, method: record.found.vectorMethod }
  if (at.rank !== undefined && at.rank <= LEG_CANDIDATES) {
    const text = `vector search puts its best passage at ${placeText(at)} of the ${LEG_CANDIDATES} candidates, cosine ${at.score}`
    passed(stages, 'vector-leg', 'candidate', text, figures)
  } else {
    const text = `vector search puts its best passage at ${placeText(at)}, cosine ${at.score}: only the first ${LEG_CANDIDATES} are candidates, down to ${at.cut}`
    missed(stages, 'vector-leg', 'beyond-limit', text, figures)
  }
}

function* missingVector(embedded: EmbeddedQuery, probed: Probe, passages: Passages, stages: Stages): Read<void> {
  const stored = yield* vectorCount(embedded.vectorSpaceId, [...passages.meant.keys()])
  if (stored === 0) {
    const text = 'its passages have no vector: they are not embedded yet, or the model knows no word of them'
    missed(stages, 'vector-leg', 'no-vector', text, { vectors: 0 })
  } else {
    const text = `the vector index does not hold its passages yet, although ${stored} of them have a vector`
    missed(stages, 'vector-leg', 'not-in-index', text, { vectors: stored, degraded: probed.own.degraded })
  }
}

/** Reports the indexes as the cause when neither returned the document. */
export function judgeCandidacy(stages: Stages, passages: Passages, record: FastRecord): boolean {
  if (record.hits.some((hit) => passages.meant.has(hit.key))) return true
  const reasons = stages.list.filter(({ stage }) => stage === 'text-leg' || stage === 'vector-leg')
  const has = (reason: string) => reasons.some((stage) => stage.reason === reason)
  const figures = { textCandidates: record.found.textCount, vectorCandidates: record.found.vectorCount }
  const at = (reason: string, text: string) => ({ stage: 'fusion' as const, reason, text, figures })
  if (has('watermark-behind') || has('not-in-index'))
    failed(stages, 'index-behind', at('index-behind', 'a search index does not hold the document as it is published'))
  else if (has('beyond-limit'))
    failed(stages, 'beyond-candidates', at('no-candidate', 'neither search returned it as a candidate'))
  else if (passages.termCounts.size === 0)
    failed(
      stages,
      'no-term-in-common',
      at('no-candidate', 'it shares no term with the query, and has no vector near it'),
    )
  else failed(stages, 'index-behind', at('index-behind', 'the searches did not return passages that should match'))
  return false
}
