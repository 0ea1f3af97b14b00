import type { TermCorrection } from '../../../contract/gateway/queries.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import {
  analyzeDocumentWords,
  analyzeQuery,
  analyzeWords,
  detectLanguageOfQuestion,
  type QueryWord,
} from '../../../lib/text/analyze.js'
import type { CompoundQuestion, Rewording } from '../../../lib/text/compounds.js'
import type { Language } from '../../../lib/text/languages.js'
import { findNames } from '../../../lib/text/names.js'
import {
  buildDerivedForms,
  buildFormsWithoutTwoTypos,
  buildFormsWithoutTypo,
  isCommonWord,
  type WordForm,
} from '../../../lib/text/spelling.js'
import { type AnalysedPassage, analysePassage, type PassageCache, termHash } from '../../knowledge/index.js'
import type { EngineContext } from '../../library/index.js'
import {
  type DocumentScope,
  MAX_K,
  REWORDING_WEIGHT,
  type SearchHit,
  type SearchHits,
  type SearchRequest,
  weighTerms,
} from '../../search/index.js'
import type { Read } from '../../store/program.js'
import { filterDeniedNodes, findReadableScope } from '../../store/rows/permissions.js'
import { filterVisibleKeys, loadPassages } from '../../store/rows/queries.js'
import type { AdmittedQuery } from './admission.js'
import type { QuestionScope, SearchScope } from './retrieval.js'

/** Hits of both indexes. */
export interface RecallResult {
  /** only of documents that the reader may read */
  found: SearchHits & { average?: number }
  /** hits that are visible in the snapshot */
  hits: SearchHit[]
  /** number of hits that are not visible in the snapshot */
  hidden: number
}

/** Limits of a search in addition to its request. */
export interface RecallScope {
  /** documents that the reader may read; absent = all */
  scope?: ReadingScope | undefined
  cache?: PassageCache
}

/**
 * Searches both indexes within what the reader may read. The text scores of an index depend on all of its nodes, so for
 * a reader with a scope they are computed again from the candidates and the term frequencies in the scope.
 */
export async function recall(
  { context, admitted, signal }: SearchScope,
  request: SearchRequest,
  { scope, cache }: RecallScope,
): Promise<RecallResult> {
  const { space, snapshot, subject, seq } = admitted
  if (scope === undefined) {
    const found = await context.indexes.search(space.id, { ...request, seq }, signal)
    signal.throwIfAborted()
    const visible = await context.db.read(filterVisibleKeys(space.key, snapshot, getKeys(found.hits)))
    const hits = found.hits.filter(({ key }) => visible.has(key))
    return { found, hits, hidden: found.hits.length - hits.length }
  }
  const wide = { ...request, seq, textK: MAX_K, scope: scope.documents }
  const raw = await context.indexes.search(space.id, wide, signal)
  signal.throwIfAborted()
  const { known, visible } = await context.db.read(findKnownKeys(admitted, subject, getKeys(raw.hits)))
  const hits = raw.hits.filter(({ key }) => known.has(key))
  const scored = await rescore(
    context,
    space.key,
    { ...raw, hits },
    { request, nodes: scope.nodes, ...omitUndefined({ cache }) },
  )
  const shown = scored.hits.filter(({ key }) => visible.has(key))
  return { found: scored, hits: shown, hidden: scored.hits.length - shown.length }
}

/**
 * Returns the terms of a query that occur in the documents of a reader. A trained model also knows terms of other
 * documents.
 *
 * @returns undefined when the reader may read all documents
 */
export async function findTermsInScope(
  { context: { db, indexes }, admitted, signal }: SearchScope,
  query: string,
): Promise<string[] | undefined> {
  const { space, seq } = admitted
  const scope = await db.read(findReadingScope(admitted))
  if (scope === undefined) return undefined
  const terms = analyzeQuery(query)
  const request = { terms, textK: 1, vectorK: 1, seq, scope: scope.documents }
  const { frequencies } = await indexes.search(space.id, request, signal)
  return terms.filter((term) => (frequencies.get(term) ?? 0) > 0)
}

function getKeys(hits: readonly SearchHit[]): number[] {
  return hits.map(({ key }) => key)
}

/** Finds the nodes that the reader may know of, and those of them that are visible in the snapshot. */
function* findKnownKeys({ space, snapshot }: AdmittedQuery, subject: string, keys: number[]) {
  const denied = yield* filterDeniedNodes(space.key, { subject }, keys)
  const known = new Set(keys.filter((key) => !denied.has(key)))
  return { known, visible: yield* filterVisibleKeys(space.key, snapshot, [...known]) }
}

const K1 = 1.2
const B = 0.75
/** The terms of a title count twice in an index. */
const TITLE_WEIGHT = 2

interface RescoreOptions {
  request: Pick<SearchRequest, 'terms' | 'textK' | 'vectorK' | 'vector'>
  /** nodes that the reader may read */
  nodes: number
  cache?: PassageCache
  /** average length of a node; absent = of the candidates */
  average?: number
}

/**
 * Scores text hits by BM25 over the nodes that the reader may read, and keeps the requested number of hits of each
 * index.
 */
export async function rescore(
  { db }: Pick<EngineContext, 'db'>,
  spaceKey: number,
  found: SearchHits,
  { request, nodes, cache, average }: RescoreOptions,
): Promise<SearchHits & { average: number }> {
  const byText = found.hits.filter(({ bm25 }) => bm25 !== undefined)
  const texts = await db.read(loadPassages(spaceKey, getKeys(byText)))
  const passages = new Map(
    [...texts].map(([key, { title, body }]) => {
      const passage = { key, title, body }
      return [key, cache?.get(passage) ?? analysePassage(passage)] as const
    }),
  )
  const lengths = [...passages.values()].map(weighLength)
  const mean = average ?? lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length)
  const score = createScorer(found, request.terms, nodes, mean)
  const scores = new Map([...passages].map(([key, passage]) => [key, score(passage)]))
  const inText = selectBest([...scores], request.textK)
  const inVectors = selectBest(
    request.vector === undefined
      ? []
      : found.hits.flatMap(({ key, cosine }) => (cosine === undefined ? [] : [[key, cosine]])),
    request.vectorK,
  )
  const hits = found.hits.flatMap(({ key, cosine }): SearchHit[] => {
    const bm25 = inText.has(key) ? scores.get(key) : undefined
    return bm25 === undefined && !inVectors.has(key) ? [] : [{ key, ...omitUndefined({ bm25, cosine }) }]
  })
  return { ...found, hits, textCount: inText.size, average: mean }
}

/** Keys of the highest scores. */
function selectBest(scores: (readonly [key: number, score: number])[], k: number): Set<number> {
  const sorted = scores.sort((a, b) => b[1] - a[1] || a[0] - b[0])
  return new Set(sorted.slice(0, k).map(([key]) => key))
}

function weighLength({ title, body, ends }: AnalysedPassage): number {
  return TITLE_WEIGHT * (body - title) + ends - body
}

function createScorer(
  { frequencies, rewordings }: SearchHits,
  terms: readonly string[],
  nodes: number,
  average: number,
) {
  const frequency = (term: string): number => Math.min(nodes, frequencies.get(term) ?? 0)
  const idf = (term: string): number => Math.log(1 + (nodes - frequency(term) + 0.5) / (frequency(term) + 0.5))
  const weighted = weighTerms(terms, frequency).map(({ term, weight }) => ({
    hash: termHash(term),
    gain: weight * idf(term),
  }))
  const reworded = rewordings.map((one) => ({
    hashes: one.documentTerms.map(termHash),
    gain: REWORDING_WEIGHT * one.queryTerms.reduce((sum, term) => sum + idf(term), 0),
  }))
  const allHashes = new Set([...weighted.map(({ hash }) => hash), ...reworded.flatMap(({ hashes }) => hashes)])
  return (passage: AnalysedPassage): number => {
    const counts = countTerms(passage, allHashes)
    const norm = K1 * (1 - B + (B * weighLength(passage)) / Math.max(1, average))
    const computeSaturation = (hash: number): number => {
      const count = counts.get(hash) ?? 0
      return (count * (K1 + 1)) / (count + norm)
    }
    const own = weighted.reduce((sum, { hash, gain }) => sum + gain * computeSaturation(hash), 0)
    return reworded.reduce((sum, { hashes, gain }) => sum + gain * Math.min(...hashes.map(computeSaturation)), own)
  }
}

function countTerms({ words, title, body, ends }: AnalysedPassage, hashes: ReadonlySet<number>): Map<number, number> {
  const counts = new Map<number, number>()
  for (let start = title; start < ends; start++) {
    const hash = words[start] ?? 0
    if (hashes.has(hash)) counts.set(hash, (counts.get(hash) ?? 0) + (start < body ? TITLE_WEIGHT : 1))
  }
  return counts
}

/** The part of a space that a reader may search. */
export interface ReadingScope {
  documents: DocumentScope
  /** number of its published nodes */
  nodes: number
}

/** Finds the documents that a reader may know of; undefined when these are all documents, which is usual. */
export function* findReadingScope({
  space,
  snapshot,
  subject,
}: Pick<AdmittedQuery, 'space' | 'snapshot' | 'subject'>): Read<ReadingScope | undefined> {
  return yield* findReadableScope(space.key, { subject }, snapshot.headRevision)
}

export interface Correction extends TermCorrection {
  rewording: Rewording
}

/** Counts the permitted passages that contain each term. */
type TermCounter = (terms: string[]) => Promise<ReadonlyMap<string, number>>

/** A question with more missing words is in another language or about another subject than the space. */
const MAX_MISSING_WORDS = 3
/** Maximum derived forms of one word that are searched for; the most frequent ones are used. */
const MAX_DERIVED_FORMS = 2
/** Maximum terms in one request to an index. */
const MAX_TERMS_PER_REQUEST = 2_048

const NO_COMPOUNDS: CompoundQuestion = { words: [], languages: [], isCertain: false }

/**
 * Searches both indexes. When words of the question are missing in the reader's documents, searches again with
 * corrections.
 */
export async function recallWithCorrections(
  question: QuestionScope,
  request: SearchRequest,
  reading: RecallScope,
): Promise<RecallResult & { corrections: Correction[] }> {
  const first = await recall(question, request, reading)
  const { context, query, signal } = question
  const { space, seq } = question.admitted
  const scope = reading.scope === undefined ? {} : { scope: reading.scope.documents }
  const lookUp = async (terms: string[]) =>
    (await context.indexes.search(space.id, { terms, textK: 1, vectorK: 1, seq, ...scope }, signal)).frequencies
  const found = await findCorrections(query, first.found, lookUp)
  if (found.length === 0) return { ...first, corrections: [] }
  const compounds = { ...(request.compounds ?? NO_COMPOUNDS), otherRewordings: found.map(({ rewording }) => rewording) }
  const again = await recall(question, { ...request, compounds }, reading)
  return { ...again, corrections: found }
}

/**
 * Returns the corrections as passages spell them: a generated form may share only its stem with the word of a passage.
 */
export function toSearchedFor(
  corrections: readonly Correction[],
  passages: Iterable<{ title: string; body: string }>,
): TermCorrection[] {
  const missing = new Set(corrections.flatMap(({ rewording }) => rewording.documentTerms))
  const spelled = new Map<string, string>()
  for (const { title, body } of passages) {
    if (missing.size === 0) break
    for (const { text, term } of analyzeDocumentWords(`${title}\n${body}`))
      if (missing.delete(term)) spelled.set(term, text)
  }
  return corrections.map(({ asked: queryTerms, searched, rewording }) => {
    return { asked: queryTerms, searched: spelled.get(rewording.documentTerms[0] ?? '') ?? searched }
  })
}

/**
 * Finds other forms of those words of a question that no permitted passage contains: derived forms (`owns`, `owner`),
 * or else forms without a typo. Names and common words of the question's language are not treated as typos.
 */
export async function findCorrections(
  query: string,
  known: { frequencies: ReadonlyMap<string, number>; rewordings: readonly Rewording[] },
  frequencies: TermCounter,
): Promise<Correction[]> {
  if (![...known.frequencies.values()].includes(0)) return []
  const isMissing = ({ term }: QueryWord): boolean =>
    known.frequencies.get(term) === 0 && !known.rewordings.some(({ queryTerms }) => queryTerms.includes(term))
  const spelled = query.toLowerCase().replaceAll('’', "'")
  // `wasn` of `wasn't` is not a word
  const missing = analyzeWords(query).filter((word) => isMissing(word) && !spelled.includes(`${word.text}'`))
  if (missing.length > MAX_MISSING_WORDS) return []
  const names = new Set(findNames(query).flatMap(({ text }) => text.toLowerCase().split(/[^\p{L}\p{M}]+/u)))
  const language = detectLanguageOfQuestion(query)
  const found: Correction[] = []
  for (const word of missing)
    if (!names.has(word.text)) found.push(...(await findFormsInSpace(word, language, frequencies)))
  return found
}

async function findFormsInSpace(word: QueryWord, language: Language, frequencies: TermCounter): Promise<Correction[]> {
  const { text, script } = word
  const derived = script === 'latin' && language === 'en' ? buildDerivedForms(text) : []
  const nearest = isCommonWord(text, language) ? [] : buildFormsWithoutTypo(text, script)
  const found = await rankExistingForms([...derived, ...nearest], frequencies)
  const related = found.filter(({ term }) => derived.some((one) => one.term === term)).slice(0, MAX_DERIVED_FORMS)
  if (related.length > 0) return related.map((form) => toCorrection(word, form))
  const isOpen = found.length === 0 && nearest.length > 0
  const [best] = isOpen ? await rankExistingForms(buildFormsWithoutTwoTypos(text, language), frequencies) : found
  return best === undefined ? [] : [toCorrection(word, best)]
}

/** Forms that passages contain: corrections of likely typos first, then the most frequent. */
async function rankExistingForms(forms: readonly WordForm[], frequencies: TermCounter): Promise<WordForm[]> {
  const counts = new Map<string, number>()
  const terms = [...new Set(forms.map(({ term }) => term))]
  for (let start = 0; start < terms.length; start += MAX_TERMS_PER_REQUEST)
    for (const [term, count] of await frequencies(terms.slice(start, start + MAX_TERMS_PER_REQUEST)))
      counts.set(term, count)
  const count = ({ term }: WordForm): number => counts.get(term) ?? 0
  const likely = ({ isLikely = false }: WordForm): number => (isLikely ? 1 : 0)
  return forms.filter((form) => count(form) > 0).sort((a, b) => likely(b) - likely(a) || count(b) - count(a))
}

function toCorrection({ text, term }: QueryWord, form: WordForm): Correction {
  return { asked: text, searched: form.text, rewording: { queryTerms: [term], documentTerms: [form.term] } }
}
