import { analyzeQuery } from '../../lib/text/analyze.js'
import { type EmbeddedQuery, embedQuery, termWeights } from '../compile/embeddings.js'
import { isTrained } from '../compile/vector-spaces.js'
import type { EngineContext } from '../context.js'
import type { SearchHit, SearchHits } from '../search/ports.js'
import { deniedNodes } from '../sources/permissions.js'
import type { Admitted } from './admission.js'
import { candidateIdf } from './candidate-idf.js'
import type { RankedPassage } from './evidence.js'
import { fuse } from './fuse.js'
import type { PassageCache } from './passage.js'
import { type Compared, type Ranked, RERANK_LIMIT, rankCandidates } from './rank.js'
import { loadPassages, nodeCount, type PassageRow, visibleKeys } from './store.js'

export const STRATEGY_VERSION = 'fast-1'
/** candidates of each leg (retrieval.md section 6.3) */
export const LEG_CANDIDATES = 200

export interface QueryEmbedding {
  embedded: EmbeddedQuery | undefined
  /** why there is no vector although the space has a model */
  degraded?: string
}

/** The query's vector; a provider that fails costs the vector leg, not the answer. */
export async function embedForFast(
  context: EngineContext,
  admitted: Admitted,
  query: string,
  signal: AbortSignal,
): Promise<QueryEmbedding> {
  try {
    return { embedded: await embedQuery(context, admitted.space, query, signal) }
  } catch (error) {
    signal.throwIfAborted()
    context.log.warn({ space: admitted.space.id, error: String(error) }, 'a query could not be embedded')
    return { embedded: undefined, degraded: 'embedding-failed' }
  }
}

export interface Retrieved {
  ranked: RankedPassage[]
  terms: string[]
  idf: (term: string) => number
  metrics: Record<string, unknown>
  /** passages left out by the scopes of their sources; absent when there are none */
  permission?: PermissionLimit
}

export interface PermissionLimit {
  filtered: number
  /** one of them ranks before everything that is shown */
  better: boolean
}

/** What happened on the way to the passages that are kept, for an explanation. */
export interface FastRecord {
  found: SearchHits
  /** those of the hits that the snapshot shows */
  hits: readonly SearchHit[]
  /** candidates whose texts were compared with the query, best first */
  compared: readonly Compared[]
  /** every candidate in its final order, before threshold and topK */
  ranked: readonly Ranked[]
}

export interface AskedTerms {
  terms: readonly string[]
  /** how telling a term is in the space */
  idf: (term: string) => number
}

/** What mode deep adds to hybrid recall, before the one rerank and after it. */
export interface GraphStage {
  hits: SearchHit[]
  reorder: (ranked: Ranked[]) => Ranked[]
  metrics: Record<string, unknown>
}

/**
 * Hybrid recall from both indexes, fusion, one rerank; keeps `topK` passages.
 *
 * @param observe told once what was found and how it was ranked
 * @param expand adds candidates to what recall found, for mode deep
 */
export async function retrieveFast(
  context: EngineContext,
  cache: PassageCache,
  admitted: Admitted,
  query: string,
  embedding: QueryEmbedding,
  signal: AbortSignal,
  observe?: (record: FastRecord) => void,
  expand?: (hits: SearchHit[], asked: AskedTerms) => GraphStage,
): Promise<Retrieved> {
  const { db } = context
  const { space, profile, snapshot, docs } = admitted
  const started = performance.now()
  const terms = analyzeQuery(query)
  const { embedded } = embedding
  const [found, weights] = await Promise.all([
    context.indexes.search(
      space.id,
      {
        terms,
        textK: LEG_CANDIDATES,
        vectorK: LEG_CANDIDATES,
        ...(embedded === undefined ? {} : { vector: embedded.vector, vectorSpace: embedded.vectorSpaceId }),
        ...(docs === undefined ? {} : { docs }),
      },
      signal,
    ),
    termWeights(context, space, terms),
  ])
  signal.throwIfAborted()
  const fusing = performance.now()
  const visible = visibleKeys(
    db,
    space.key,
    snapshot,
    found.hits.map((hit) => hit.key),
  )
  const recalled = found.hits.filter((hit) => visible.has(hit.key))
  const permitted = withoutDenied(context, admitted, recalled)
  const load = (keys: number[]) => loadPassages(db, space.key, keys)
  const idf =
    weights === undefined
      ? candidateIdf({ terms, hits: permitted.hits, load, cache, documents: nodeCount(db, space.key) })
      : (term: string) => weights.get(term) ?? 1
  const graph = expand?.(permitted.hits, { terms, idf })
  const hits = graph?.hits ?? permitted.hits
  let loaded = new Map<number, PassageRow>()
  let compared: readonly Compared[] = []
  const reranking = rankCandidates({
    terms,
    hits,
    idf,
    cache,
    load: (keys) => {
      loaded = load(keys)
      return loaded
    },
    rerank: profile.rerank.enabled,
    builtinVectors: isTrained(space),
    onCompared: (candidates) => {
      compared = candidates
    },
  })
  const ranked = graph?.reorder(reranking) ?? reranking
  observe?.({ found, hits, compared, ranked })
  const reranked = performance.now()
  const kept = ranked.filter((candidate) => candidate.final >= profile.scoreThreshold)
  const missing = kept.slice(0, profile.topK).filter((candidate) => !loaded.has(candidate.key))
  for (const [key, row] of loadPassages(
    db,
    space.key,
    missing.map((candidate) => candidate.key),
  ))
    loaded.set(key, row)
  const passages = kept.slice(0, profile.topK).flatMap(({ key, ...scores }): RankedPassage[] => {
    const passage = loaded.get(key)
    return passage === undefined ? [] : [{ passage, ...scores }]
  })
  return {
    ranked: passages,
    terms,
    idf,
    ...(permitted.limit === undefined ? {} : { permission: permitted.limit }),
    metrics: {
      ...legMetrics(found, embedding),
      fusionCandidateCount: recalled.length,
      finalCandidateCount: passages.length,
      permissionFilteredCount: recalled.length - permitted.hits.length,
      metadataFilteredCount: 0,
      projectionFilteredCount: found.hits.length - recalled.length,
      scoreThresholdFilteredCount: ranked.length - kept.length,
      rerankCandidateCount: profile.rerank.enabled ? Math.min(hits.length, RERANK_LIMIT) : 0,
      fusionAndRerankMs: round(reranked - fusing),
      multimodalCandidateCount: 0,
      imageCandidateCount: 0,
      tableCandidateCount: passages.filter(({ passage }) => passage.kind === 'table').length,
      visualCandidateCount: 0,
      ...graph?.metrics,
      totalMs: round(performance.now() - started),
    },
  }
}

/** Leaves out what the asking subject may not read, and says whether the best of it was ahead of the rest. */
function withoutDenied(
  { db }: EngineContext,
  { space, subject }: Admitted,
  all: SearchHit[],
): { hits: SearchHit[]; limit?: PermissionLimit } {
  const keys = all.map(({ key }) => key)
  const denied = deniedNodes(db, space.key, subject, keys)
  if (denied.size === 0) return { hits: all }
  const [best] = fuse(all)
  const hits = all.filter(({ key }) => !denied.has(key))
  return { hits, limit: { filtered: denied.size, better: best !== undefined && denied.has(best.key) } }
}

function legMetrics(found: SearchHits, embedding: QueryEmbedding): Record<string, unknown> {
  const degraded = [...found.degraded, ...(embedding.degraded === undefined ? [] : [embedding.degraded])]
  return {
    denseCandidateCount: found.vectorCount,
    denseMs: round(found.vectorMs),
    denseMethod: found.vectorMethod,
    ftsCandidateCount: found.textCount,
    ftsMs: round(found.textMs),
    ftsEngine: found.textEngine,
    degraded: degraded.length > 0,
    degradedReasons: degraded,
  }
}

function round(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100
}
