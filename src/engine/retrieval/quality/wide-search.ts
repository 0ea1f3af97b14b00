import { omitUndefined } from '../../../lib/omit-undefined.js'
import { analyzeContent, analyzeDocument } from '../../../lib/text/analyze.js'
import { type EngineContext, embedQuery, termWeights } from '../../library/index.js'
import type { SearchHit } from '../../search/index.js'
import type { Read } from '../../store/program.js'
import { loadPassages, type PassageRow } from '../../store/rows/queries.js'
import { getSpaceUsage } from '../../store/rows/space-usage.js'
import { createTermWeights } from '../query/term-weights.js'
import { listOpenTexts } from '../rows/quality/evidence.js'
import { type ComparedPassage, comparePassages, type TermVariant, type TriageTerm } from './compare-passages.js'
import { findEverydaySynonyms, isFiller } from './everyday-words.js'
import { findVisibleHits, type TriageScope } from './open-hits.js'
import { generateMisspellings, looksLike, splitHalves } from './spelling.js'

/** Maximum distinct terms of a query that are looked up; a longer one is judged by its first terms. */
const MAX_QUERY_TERMS = 32
/** Candidates of each index: as many as for a query, and again for the replacements of its words. */
const MAX_INDEX_CANDIDATES = 200
/** Maximum passages whose text is compared. */
const MAX_COMPARED = 60
/** Maximum passages that are counted for a term; higher counts add little. */
const MAX_TERM_HOLDERS = 200
/** Maximum unknown terms that are looked up in other spellings; each costs one search. */
const MAX_RESPELT_TERMS = 10
/** Maximum passages that are read to find which other spelling matched. */
const MAX_SPELLING_PASSAGES = 20
/** Weight of a filler word, as a fraction of other words of its frequency. */
const FILLER_WEIGHT = 0.25
/** Passages, and characters of each, that show the language of a space. */
const SAMPLE_PASSAGES = 40
const SAMPLE_CHARACTERS = 600
/** How much variants mean the same as the term. */
const SYNONYM_STRENGTH = 0.7
const SPELLING_STRENGTH = 0.75
const FORM_STRENGTH = 0.75
const HALF_STRENGTH = 0.6

/** Result of a search without the question's filters and limits. */
export interface WideSearch {
  queryTerms: readonly TriageTerm[]
  /** fraction of the question's weight that some passage contains: in its own words, and in other words */
  known: number
  knownInOtherWords: number
  /** best first */
  compared: readonly ComparedPassage[]
  /** words of the question match others of the space by their spelling */
  respelt: boolean
  /** cosine of the nearest passage, and of a median one among the compared; absent without vectors */
  nearest?: number
  background?: number
}

/**
 * Searches without the question's filters and limits. @throws KsError `unavailable` when the text index cannot be
 * queried
 */
export async function searchWidely(context: EngineContext, scope: TriageScope, query: string): Promise<WideSearch> {
  const terms = [...new Set(analyzeContent(query))].slice(0, MAX_QUERY_TERMS)
  if (terms.length === 0) return { queryTerms: [], known: 0, knownInOtherWords: 0, compared: [], respelt: false }
  const counts = await Promise.all(terms.map((term) => countHolders(context, scope, term)))
  const weights = await computeTermWeights(context, scope, terms, counts)
  const unknown = terms.filter((_, index) => counts[index] === 0)
  const first = await findCandidates(context, scope, query, [...terms, ...new Set(terms.flatMap(findEverydaySynonyms))])
  const nearby = collectTerms(first.passages.slice(0, MAX_COMPARED))
  const spellings = await respell(context, scope, mapWordsByTerm(query), { unknown, nearby })
  const more = spellings.size === 0 ? [] : [...spellings.values()].flat().map(({ term }) => term)
  const second = more.length === 0 ? first : await findCandidates(context, scope, query, [...terms, ...more])
  const queryTerms = terms.map((term, index): TriageTerm => {
    const synonyms = findEverydaySynonyms(term).map(
      (other): TermVariant => ({ term: other, strength: SYNONYM_STRENGTH }),
    )
    return { term, weight: weights[index] ?? 0, variants: [...(spellings.get(term) ?? []), ...synonyms] }
  })
  const passages = new Map([...second.passages, ...first.passages].map((passage) => [passage.id, passage]))
  const cosines = [...first.cosines.values()].sort((a, b) => b - a)
  const [nearest] = cosines
  const compared = comparePassages(
    queryTerms,
    [...passages.values()].map(({ key, id, title, body }) => {
      const cosine = first.cosines.get(key)
      return { id, title, body, ...omitUndefined({ cosine }) }
    }),
  )
  return {
    queryTerms,
    compared,
    respelt: spellings.size > 0,
    ...computeKnownFractions(queryTerms, counts, compared),
    ...(nearest === undefined ? {} : { nearest, background: cosines[Math.floor(cosines.length / 2)] ?? nearest }),
  }
}

/** Fractions of the question's weight that the space contains, in the question's words and in other words too. */
function computeKnownFractions(
  queryTerms: readonly TriageTerm[],
  counts: readonly number[],
  compared: readonly ComparedPassage[],
): { known: number; knownInOtherWords: number } {
  const vocabulary = collectTerms(compared)
  const total = queryTerms.reduce((sum, { weight }) => sum + weight, 0)
  const computeFraction = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / total
  const own = queryTerms.map(({ weight }, index) => ((counts[index] ?? 0) > 0 ? weight : 0))
  const other = queryTerms.map(({ weight, variants }, index) =>
    (counts[index] ?? 0) > 0
      ? weight
      : weight * Math.max(0, ...variants.map(({ term, strength }) => (vocabulary.has(term) ? strength : 0))),
  )
  return { known: computeFraction(own), knownInOtherWords: computeFraction(other) }
}

async function countHolders(context: EngineContext, scope: TriageScope, term: string): Promise<number> {
  const hits = await findVisibleHits(context, scope, { terms: [term], textK: MAX_TERM_HOLDERS, vectorK: 1 })
  return hits.length
}

/** Weights of terms: by the space's statistics, lower for filler words. */
async function computeTermWeights(
  context: EngineContext,
  { space }: TriageScope,
  terms: string[],
  counts: readonly number[],
): Promise<number[]> {
  const countOf = new Map(terms.map((term, index) => [term, counts[index] ?? 0]))
  const { nodes } = await context.db.read(getSpaceUsage(space.key))
  const weightByCount = createTermWeights((term) => countOf.get(term) ?? 0, nodes)
  const trained = await termWeights(context, space, terms).catch(() => undefined)
  return terms.map((term) => {
    const count = countOf.get(term) ?? 0
    const byCount = weightByCount(term)
    // The space's model knows the weight of a term with more holders than are counted.
    const weight = count < MAX_TERM_HOLDERS ? byCount : Math.min(byCount, trained?.get(term) ?? byCount)
    return Math.max(0.01, weight) * (isFiller(term) ? FILLER_WEIGHT : 1)
  })
}

/** Distinct terms of passages. */
function collectTerms(passages: readonly { title: string; body: string }[]): Set<string> {
  return new Set(passages.flatMap(({ title, body }) => analyzeDocument(`${title}\n${body}`)))
}

/** Terms of the space that an unknown term of the question may mean, as another spelling or form. */
async function respell(
  context: EngineContext,
  scope: TriageScope,
  words: ReadonlyMap<string, string>,
  { unknown, nearby }: { unknown: readonly string[]; nearby: ReadonlySet<string> },
): Promise<Map<string, TermVariant[]>> {
  const found = new Map<string, TermVariant[]>()
  for (const term of unknown.slice(0, MAX_RESPELT_TERMS)) {
    const variants = new Map<string, number>()
    for (const near of nearby) if (looksLike(term, near)) variants.set(near, FORM_STRENGTH)
    const spellings = generateSpellings(words.get(term) ?? term)
    const hits = await findVisibleHits(context, scope, {
      terms: [...spellings.keys()],
      textK: MAX_SPELLING_PASSAGES,
      vectorK: 1,
    })
    const keys = hits.map(({ key }) => key)
    const loaded = await context.db.read(loadPassages(scope.space.key, keys))
    for (const heldTerm of collectTerms([...loaded.values()])) {
      const strength = spellings.get(heldTerm)
      if (strength !== undefined) variants.set(heldTerm, Math.max(strength, variants.get(heldTerm) ?? 0))
    }
    if (variants.size > 0)
      found.set(
        term,
        [...variants].map(([other, strength]) => ({ term: other, strength })),
      )
  }
  return found
}

/** Words of a query by their first term. */
function mapWordsByTerm(query: string): Map<string, string> {
  const words = query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  return new Map(
    words.flatMap((word) =>
      analyzeContent(word)
        .slice(0, 1)
        .map((term) => [term, word] as const),
    ),
  )
}

function generateSpellings(word: string): Map<string, number> {
  const spellings = new Map<string, number>()
  for (const [left, right] of splitHalves(word))
    for (const half of [left, right]) for (const term of analyzeContent(half)) spellings.set(term, HALF_STRENGTH)
  for (const other of generateMisspellings(word))
    for (const term of analyzeContent(other)) spellings.set(term, SPELLING_STRENGTH)
  return spellings
}

interface WideCandidates {
  passages: PassageRow[]
  cosines: ReadonlyMap<number, number>
}

/** The passages that both indexes rank first for some terms, within what the query's readers may know of. */
async function findCandidates(
  context: EngineContext,
  scope: TriageScope,
  query: string,
  terms: string[],
): Promise<WideCandidates> {
  const embedded = await embedQuery(context, scope.space, query).catch((error: unknown) => {
    context.log.warn({ space: scope.space.id, error: String(error) }, 'a failed query is sorted without its vector')
    return undefined
  })
  const hits = await findVisibleHits(context, scope, {
    terms,
    textK: MAX_INDEX_CANDIDATES,
    vectorK: MAX_INDEX_CANDIDATES,
    ...omitUndefined({ vector: embedded?.vector, vectorSpace: embedded?.vectorSpaceId }),
  })
  const byText = rankHits(hits, ({ bm25 }) => bm25).slice(0, MAX_COMPARED)
  const byVector = rankHits(hits, ({ cosine }) => cosine)
  const cosines = new Map(byVector.map(({ key, cosine }) => [key, cosine ?? 0]))
  const keys = [...new Set([...byText, ...byVector.slice(0, MAX_COMPARED)].map(({ key }) => key))]
  const loaded = await context.db.read(loadPassages(scope.space.key, keys))
  return { passages: keys.flatMap((key) => loaded.get(key) ?? []), cosines }
}

function rankHits(hits: readonly SearchHit[], score: (hit: SearchHit) => number | undefined): SearchHit[] {
  return hits
    .filter((hit) => score(hit) !== undefined)
    .sort((a, b) => (score(b) ?? 0) - (score(a) ?? 0) || a.key - b.key)
}

/** Texts of a few passages, of any subject. */
export function* readSampleTexts({ space, audience }: TriageScope): Read<string[]> {
  return yield* listOpenTexts(space.key, audience, { passages: SAMPLE_PASSAGES, characters: SAMPLE_CHARACTERS })
}
