import { omitUndefined } from '../../../lib/omit-undefined.js'
import { roundHundredths } from '../../../lib/round.js'
import { analyzeCompounds, analyzeQuery } from '../../../lib/text/analyze.js'
import { addReworded, type Rewording } from '../../../lib/text/compounds.js'
import { pluralize } from '../../../lib/text/pluralize.js'
import { createDegradation, type Degradation, toDegradation } from '../../base/degraded.js'
import { type AnalysedPassage, findContainedTerms } from '../../knowledge/index.js'
import { type EmbeddedQuery, type EngineContext, embedQuery, isTrained } from '../../library/index.js'
import type { CosineBackground, SearchHit, SearchHits } from '../../search/index.js'
import type { Driver } from '../../store/driver.js'
import { filterDeniedNodes } from '../../store/rows/permissions.js'
import { countNodesOfDocuments, loadPassages, loadVectors, type PassageRow } from '../../store/rows/queries.js'
import type { AdmittedQuery } from './admission.js'
import { type DistinctPassages, listCopyDocuments, removeCopies } from './copies.js'
import { countShownItems, type RankedPassage } from './evidence.js'
import { findFigureTables, injectTables, promoteTables } from './figure-tables.js'
import { type ModelRerank, rerankByModel } from './model-rerank.js'
import { preferDays, preferNamed } from './prefer.js'
import { beginRanking, MAX_INDEX_CANDIDATES, type RankedCandidate, type Ranking, type RankRequest } from './rank.js'
import { findReadingScope, findTermsInScope, recall, recallWithCorrections, toSearchedFor } from './recall.js'
import type {
  PassageScope,
  QueryEmbedding,
  QuestionScope,
  Retrieval,
  RetrievalResult,
  SearchScope,
} from './retrieval.js'
import { createQuestionWeights } from './term-weights.js'
import {
  type JudgedPassage,
  judgeWithheld,
  MAX_COMPARED_PERMITTED,
  toJudgedQuestion,
  type WithheldPassage,
} from './withheld.js'

export const STRATEGY_VERSION = 'fast-1'

/** Computes the query's vector. When the provider fails, the query runs without vectors. */
export async function embedForFast(question: QuestionScope): Promise<QueryEmbedding> {
  const { context, admitted, query, signal } = question
  try {
    const terms = isTrained(admitted.space) ? await findTermsInScope(question, query) : undefined
    return { embedded: await embedQuery(context, admitted.space, query, { signal, terms }) }
  } catch (error) {
    signal.throwIfAborted()
    context.log.warn({ space: admitted.space.id, error: String(error) }, 'a query could not be embedded')
    return { embedded: undefined, degraded: toDegradation('embedding', 'the question could not be embedded', error) }
  }
}

export interface QuestionTerms {
  terms: readonly string[]
  /** weight of a term in the space: rare terms weigh more */
  idf: (term: string) => number
}

/** Additions of mode deep to hybrid recall, before and after the rerank. */
export interface GraphStage {
  hits: SearchHit[]
  /** @param byModel whether a rerank model decided the order */
  reorder: (ranked: RankedCandidate[], byModel: boolean) => RankedCandidate[]
  /** candidates that only the graph found */
  reached: ReadonlyMap<number, 'graph' | 'second-hop'>
  metrics: Record<string, unknown>
}

/**
 * Runs hybrid recall on both indexes, fusion and one rerank; keeps `topK` passages.
 *
 * @param expand adds candidates to those of recall, for mode deep
 */
export async function retrieveFast(
  retrieval: PassageScope & Pick<Retrieval, 'observer'>,
  embedding: QueryEmbedding,
  expand?: (hits: SearchHit[], question: QuestionTerms) => Promise<GraphStage>,
): Promise<RetrievalResult> {
  const { context, cache, admitted, query, signal, observer } = retrieval
  const { db } = context
  const { space, profile, docs } = admitted
  const started = performance.now()
  const terms = analyzeQuery(query)
  const compounds = analyzeCompounds(query)
  const { embedded } = embedding
  const request = {
    terms,
    textK: MAX_INDEX_CANDIDATES,
    vectorK: MAX_INDEX_CANDIDATES,
    ...omitUndefined({ compounds, docs }),
    ...(embedded === undefined
      ? {}
      : { vector: embedded.vector, vectorSpace: embedded.vectorSpaceId, wantsBackground: !isTrained(space) }),
  }
  const scope = await db.read(findReadingScope(admitted))
  const reading = { scope, cache }
  const [{ found, hits: recalled, hidden, corrections }, tables] = await Promise.all([
    recallWithCorrections(retrieval, request, reading),
    findFigureTables(retrieval, reading),
  ])
  signal.throwIfAborted()
  const fusing = performance.now()
  const nodes = scope?.nodes ?? admitted.nodes
  const { headRevision } = admitted.snapshot
  const searchedNodes = docs === undefined ? nodes : await db.read(countNodesOfDocuments(space.key, docs, headRevision))
  const idf = createQuestionWeights(query, found.frequencies, nodes)
  const graph = await expand?.(recalled, { terms, idf })
  const hits = injectTables(graph?.hits ?? recalled, tables)
  const likeIn = embedded !== undefined && isTrained(space) ? embedded.vectorSpaceId : undefined
  const calibration = isTrained(space) ? {} : { calibration: { background: found.background, nodes: searchedNodes } }
  const { rewordings } = found
  const ranking = {
    terms,
    rewordings,
    idf,
    cache,
    rerank: profile.rerank.enabled,
    nodes: searchedNodes,
    ...calibration,
  }
  const { compared, statistics, loaded, ...own } = await readAndRank(db, space.key, { ...ranking, hits }, likeIn)
  const searchedFor = toSearchedFor(corrections, loaded.values())
  const best = own.ranked.slice(0, MAX_COMPARED_PERMITTED).flatMap(({ key }) => loaded.get(key) ?? [])
  const withheld = scope === undefined ? undefined : await findWithheld(retrieval, { embedded, idf, passages: best })
  const reranking = performance.now()
  const byModel = await rerankByModel(retrieval, own.ranked, loaded)
  const reranked = performance.now()
  const preferred = byModel.used === undefined ? preferNamed(query, byModel.ranked, loaded) : byModel.ranked
  const reordered = graph?.reorder(preferred, byModel.used !== undefined) ?? preferred
  // A rerank model has already compared and ordered the tables.
  const ranked = byModel.used === undefined ? promoteTables(reordered, tables) : reordered
  const aboveThreshold = ranked.filter((candidate) => candidate.final >= profile.scoreThreshold)
  const distinct = await loadDistinctPassages(retrieval, { kept: aboveThreshold, loaded, terms })
  observer.onSearch?.({
    ...{ embedding, found, hits, compared, ranked, copyOf: distinct.copyOf },
    ...omitUndefined({ model: byModel.used }),
  })
  const copies = listCopyDocuments(distinct.copyOf, loaded)
  const passages = distinct.kept.slice(0, profile.topK).flatMap(({ key, ...scores }): RankedPassage[] => {
    const passage = loaded.get(key)
    if (passage === undefined) return []
    const containedTerms = findQuestionTerms(
      cache.get({ key, title: passage.title, body: passage.body }),
      terms,
      rewordings,
    )
    const byGraph = graph?.reached.get(key)
    return [{ passage, ...scores, containedTerms, ...omitUndefined({ byGraph, alsoIn: copies.get(key) }) }]
  })
  return {
    ranked: preferDays(query, passages),
    terms,
    rewordings,
    idf,
    statistics: byModel.relevance === undefined ? statistics : { ...statistics, byRerank: byModel.relevance },
    ...omitUndefined({ withheld }),
    hasFigures: tables.some((key) => passages.some(({ passage }) => passage.key === (distinct.copyOf.get(key) ?? key))),
    ...(searchedFor.length === 0 ? {} : { searchedFor }),
    degraded: [
      ...found.degraded.map((reason) => createDegradation('text-index', reason)),
      ...(embedding.degraded === undefined ? [] : [embedding.degraded]),
      ...(byModel.degraded === undefined ? [] : [byModel.degraded]),
      ...(await findMissingVectors(context, space.key, { isScoped: scope !== undefined })),
    ],
    metrics: {
      ...toIndexMetrics(found),
      ...(searchedFor.length === 0 ? {} : { searchedFor }),
      fusionCandidateCount: recalled.length,
      finalCandidateCount: passages.length,
      permissionFilteredCount: withheld === undefined ? 0 : 1,
      metadataFilteredCount: 0,
      projectionFilteredCount: hidden,
      scoreThresholdFilteredCount: ranked.length - aboveThreshold.length,
      rerankCandidateCount: profile.rerank.enabled ? (byModel.used?.compared ?? compared.length) : 0,
      fusionAndRerankMs: roundHundredths(reranked - fusing),
      ...toRerankMetrics(profile.rerank, byModel, reranked - reranking),
      ...countShownItems(loaded.values()),
      ...(tables.length === 0 ? {} : { statementTableCount: tables.length }),
      ...graph?.metrics,
      totalMs: roundHundredths(performance.now() - started),
    },
  }
}

/** Loads passages until the best `topK` are distinct, and removes copies. Most of them are loaded already. */
async function loadDistinctPassages(
  { context: { db }, admitted }: SearchScope,
  { kept, loaded, terms }: { kept: readonly RankedCandidate[]; loaded: Map<number, PassageRow>; terms: string[] },
): Promise<DistinctPassages<RankedCandidate>> {
  const { topK } = admitted.profile
  for (let count = topK; ; count *= 2) {
    const missing = kept.slice(0, count).flatMap(({ key }) => (loaded.has(key) ? [] : [key]))
    if (missing.length > 0)
      for (const [key, row] of await db.read(loadPassages(admitted.space.key, missing))) loaded.set(key, row)
    const distinct = removeCopies(kept, loaded, terms)
    const best = distinct.kept.slice(0, topK)
    if (count >= kept.length || best.every(({ key }) => loaded.has(key))) return distinct
  }
}

/** Reports that passages have no vector yet and why; such passages are found by their words only. */
async function findMissingVectors(
  context: EngineContext,
  spaceKey: number,
  { isScoped }: { isScoped: boolean },
): Promise<Degradation[]> {
  const missing = await context.vectors.missing(spaceKey)
  if (missing === undefined) return []
  const { passages, class: kind } = missing
  // The number includes passages whose existence must stay hidden from a reader with a scope.
  const amount = isScoped ? 'some passages' : pluralize(passages, 'passage')
  return [createDegradation('vectors', `vectors of ${amount} are missing`, kind)]
}

function toIndexMetrics(found: SearchHits): Record<string, unknown> {
  return {
    denseCandidateCount: found.vectorCount,
    denseMs: roundHundredths(found.vectorMs),
    denseMethod: found.vectorMethod,
    ...(found.background === undefined ? {} : { denseBackground: roundBackground(found.background) }),
    ftsCandidateCount: found.textCount,
    ftsMs: roundHundredths(found.textMs),
    ftsEngine: found.textEngine,
  }
}

/** Metrics of who decided the order: the profile's model, the comparison of texts, or fusion only. */
function toRerankMetrics(
  { enabled }: AdmittedQuery['profile']['rerank'],
  { used, degraded }: ModelRerank,
  ms: number,
): Record<string, unknown> {
  if (!enabled) return { rerankMethod: 'none' }
  if (used === undefined && degraded === undefined) return { rerankMethod: 'builtin' }
  const rerankMs = roundHundredths(ms)
  return used === undefined
    ? { rerankMethod: 'builtin', rerankMs }
    : { rerankMethod: 'model', rerankModel: used.model, rerankMs }
}

function roundBackground({ middle, spread, samples }: CosineBackground): CosineBackground {
  return { middle: Number(middle.toFixed(4)), spread: Number(spread.toFixed(4)), samples }
}

/**
 * Ranks all passages, as for a reader of the complete space, and judges the best one if this reader may not read it.
 * The result is all that the caller learns about withheld passages.
 */
export async function findWithheld(
  scope: PassageScope,
  own: {
    embedded: EmbeddedQuery | undefined
    idf: (term: string) => number
    passages: readonly PassageRow[]
  },
): Promise<WithheldPassage | undefined> {
  const { context, cache, query } = scope
  const { space, docs, nodes, profile, subject } = scope.admitted
  const question = toJudgedQuestion(query)
  if (question === undefined) return undefined
  const terms = analyzeQuery(question)
  // The reader's vector includes the numerals; with a trained model it lacks the terms of withheld passages.
  const isSameVector = !isTrained(space) && terms.join(' ') === analyzeQuery(query).join(' ')
  const embedded = isSameVector ? own.embedded : undefined
  const request = {
    terms,
    textK: MAX_INDEX_CANDIDATES,
    vectorK: MAX_INDEX_CANDIDATES,
    ...omitUndefined({ compounds: analyzeCompounds(question), docs, vector: embedded?.vector }),
    ...(embedded === undefined ? {} : { vectorSpace: embedded.vectorSpaceId, wantsBackground: true }),
  }
  const { found, hits } = await recall(scope, request, {})
  const { rewordings, frequencies, background } = found
  const idf = createQuestionWeights(query, frequencies, nodes)
  const calibration = isTrained(space) ? {} : { calibration: { background, nodes } }
  const ranking = { terms, rewordings, idf, cache, rerank: profile.rerank.enabled, nodes, hits, ...calibration }
  const { ranked, statistics, loaded } = await readAndRank(context.db, space.key, ranking, undefined)
  const keys = ranked.map(({ key }) => key)
  const denied = await context.db.read(filterDeniedNodes(space.key, { subject }, keys))
  const findTermsIn = ({ key, title, body }: PassageRow) =>
    findQuestionTerms(cache.get({ key, title, body }), terms, rewordings)
  return judgeWithheld({
    ...{ question, terms, rewordings, idf, ownIdf: own.idf, statistics, scoreThreshold: profile.scoreThreshold },
    ranked: ranked.flatMap(({ key, final, features }): JudgedPassage[] => {
      const passage = loaded.get(key)
      if (passage === undefined) return []
      return [{ passage, final, containedTerms: findTermsIn(passage), ...omitUndefined({ features }) }]
    }),
    permitted: own.passages.map((one) => ({ text: one.body, containedTerms: findTermsIn(one) })),
    isWithheld: ({ passage }) => denied.has(passage.key),
  })
}

/**
 * Ranks candidates by their texts and, when texts leave the order open, by their vectors.
 *
 * @param likeIn the vector space of these vectors
 */
export async function readAndRank(
  db: Driver,
  spaceKey: number,
  request: RankRequest,
  likeIn: string | undefined,
): Promise<Ranking & { loaded: Map<number, PassageRow> }> {
  const ranking = beginRanking(request)
  const loaded = await db.read(loadPassages(spaceKey, ranking.texts))
  const { open, finish } = ranking.compared(loaded)
  const hasVectors = likeIn !== undefined && open.length > 0
  return { ...finish(hasVectors ? await db.read(loadVectors(likeIn, open)) : undefined), loaded }
}

/** Terms of the question that a passage contains, itself or reworded. */
export function findQuestionTerms(
  passage: AnalysedPassage,
  terms: readonly string[],
  rewordings: readonly Rewording[] = [],
): string[] {
  const found = new Set(
    findContainedTerms(passage, [...terms, ...rewordings.flatMap(({ documentTerms }) => documentTerms)]),
  )
  addReworded(found, rewordings)
  return [...new Set(terms)].filter((term) => found.has(term))
}
