import type { TermCorrection } from '../../../contract/gateway/queries.js'
import type { Rewording } from '../../../lib/text/compounds.js'
import type { Degradation } from '../../base/degraded.js'
import type { ModelReference } from '../../base/model-reference.js'
import type { Derivations, PassageCache } from '../../knowledge/index.js'
import type { EmbeddedQuery, EngineContext, TraceRecorder } from '../../library/index.js'
import type { SearchHit, SearchHits } from '../../search/index.js'
import type { AdmittedQuery } from './admission.js'
import type { QuestionStatistics } from './confidence.js'
import type { RankedPassage } from './evidence.js'
import type { QueryGate } from './gate.js'
import type { ModeRoute } from './mode.js'
import type { ComparedCandidate, RankedCandidate } from './rank.js'
import type { WithheldPassage } from './withheld.js'

/** The services that a retrieval uses. */
export interface RetrievalServices {
  context: EngineContext
  cache: PassageCache
  derivations: Derivations
}

/** The services of queries that enter the gate on their own. */
export interface QueryServices extends RetrievalServices {
  gate: QueryGate
}

/** One retrieval, as its stages see it. */
export interface Retrieval extends RetrievalServices {
  admitted: AdmittedQuery
  /** the question as it is searched, extended by its session if needed */
  query: string
  /** entities whose passages mode deep prefers */
  activeEntityIds: readonly string[]
  signal: AbortSignal
  observer: RetrievalObserver
}

/** The part of a retrieval that a search of the indexes needs. */
export type SearchScope = Pick<Retrieval, 'context' | 'admitted' | 'signal'>
export type QuestionScope = SearchScope & Pick<Retrieval, 'query'>
export type PassageScope = QuestionScope & Pick<Retrieval, 'cache'>

/** Watches a retrieval: traces record its steps, explanations its intermediate results. */
export interface RetrievalObserver {
  recorder?: TraceRecorder
  /** called when the mode is chosen */
  onRoute?: (route: ModeRoute) => void
  /** called once with the intermediate results of mode fast or deep */
  onSearch?: (record: FastSearchRecord) => void
}

export interface QueryEmbedding {
  embedded: EmbeddedQuery | undefined
  /** why there is no vector although the space has a model */
  degraded?: Degradation
}

export interface RetrievalResult {
  ranked: RankedPassage[]
  terms: string[]
  /** replacements of some terms in the space; absent when nothing was looked up */
  rewordings?: readonly Rewording[]
  /** words of the question that no passage contains, and the other forms that were searched for */
  searchedFor?: TermCorrection[]
  idf: (term: string) => number
  /** statistics of the question, for the confidence in a single passage */
  statistics: QuestionStatistics
  metrics: Record<string, unknown>
  /** what this search had to omit; the recorder of the metrics adds it to them */
  degraded: Degradation[]
  /** whether the passages include tables with rows for the figures that the question is about */
  hasFigures?: boolean
  /** a passage that answers but that the reader may not read; absent = none */
  withheld?: WithheldPassage
}

/** A rerank model whose scores were used, and the number of candidates that it compared. */
export interface UsedReranker {
  model: ModelReference
  compared: number
}

/** Intermediate results of a search, for an explanation. */
export interface FastSearchRecord {
  embedding: QueryEmbedding
  found: SearchHits
  /** the hits that are visible in the snapshot */
  hits: readonly SearchHit[]
  /** candidates whose texts were compared with the query, best first */
  compared: readonly ComparedCandidate[]
  /** every candidate in its final order, before threshold and topK */
  ranked: readonly RankedCandidate[]
  /** key of each passage that was replaced by an equal one, with the key of its replacement */
  copyOf: ReadonlyMap<number, number>
  /** the rerank model that decided the order of the first candidates */
  model?: UsedReranker
}
