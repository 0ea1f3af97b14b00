import { defined } from '../../lib/defined.js'
import { analyzeContent, analyzeDocument } from '../../lib/text/analyze.js'
import { embedQuery, termWeights } from '../compile/embeddings.js'
import type { EngineContext } from '../context.js'
import { countedWeights } from '../query/term-weights.js'
import { openTexts } from '../rows/quality/evidence.js'
import { loadPassages, type PassageRow } from '../rows/queries.js'
import { usageOf } from '../rows/space-usage.js'
import type { SearchHit } from '../search/ports.js'
import type { Read } from '../storage/program.js'
import { everydaySynonyms, isFiller } from './everyday-words.js'
import { type Searched, visibleHits } from './open-hits.js'
import { type AskedTerm, type Compared, compareAll, type Variant } from './signs.js'
import { halvesOf, looksLike, oneMistakeAway } from './spelling.js'

/** Maximum distinct terms of a query that are looked up; a longer one is judged by its first terms. */
const MAX_TERMS = 32
/** Candidates of each index: as many as for a query, and again for the replacements of its words. */
const LEG_CANDIDATES = 200
/** Maximum passages whose text is compared. */
const COMPARED = 60
/** Maximum passages that are counted for a term; higher counts add little. */
const TERM_CANDIDATES = 200
/** Maximum unknown terms that are looked up in other spellings; each costs one search. */
const RESPELT = 10
/** Maximum passages that are read to find which other spelling matched. */
const SPELLING_PASSAGES = 20
/** Weight of a filler word, as a fraction of other words of its frequency. */
const FILLER_WEIGHT = 0.25
/** Passages, and characters of each, that show the language of a space. */
const SAMPLED = 40
const SAMPLED_CHARACTERS = 600
/** How much variants mean the same as the term. */
const AS_SYNONYM = 0.7
const AS_SPELLING = 0.75
const AS_FORM = 0.75
const AS_HALF = 0.6

/** Result of a search without the question's filters and limits. */
export interface WideSearch {
  asked: readonly AskedTerm[]
  /** fraction of the question's weight that some passage contains: in its own words, and in other words */
  known: number
  knownInOtherWords: number
  /** best first */
  compared: readonly Compared[]
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
export async function searchWidely(context: EngineContext, where: Searched, query: string): Promise<WideSearch> {
  const terms = [...new Set(analyzeContent(query))].slice(0, MAX_TERMS)
  if (terms.length === 0) return { asked: [], known: 0, knownInOtherWords: 0, compared: [], respelt: false }
  const counts = await Promise.all(terms.map((term) => holders(context, where, term)))
  const weights = await weightsOf(context, where, terms, counts)
  const unknown = terms.filter((_, at) => counts[at] === 0)
  const first = await candidates(context, where, query, [...terms, ...synonymsOf(terms)])
  const nearby = vocabularyOf(first.passages.slice(0, COMPARED))
  const spellings = await respell(context, where, query, unknown, nearby)
  const more = spellings.size === 0 ? [] : [...spellings.values()].flat().map(({ term }) => term)
  const second = more.length === 0 ? first : await candidates(context, where, query, [...terms, ...more])
  const asked = terms.map((term, at): AskedTerm => {
    const synonyms = everydaySynonyms(term).map((other): Variant => ({ term: other, strength: AS_SYNONYM }))
    return { term, weight: weights[at] ?? 0, variants: [...(spellings.get(term) ?? []), ...synonyms] }
  })
  const passages = new Map([...second.passages, ...first.passages].map((passage) => [passage.id, passage]))
  const cosines = [...first.cosines.values()].sort((a, b) => b - a)
  const [nearest] = cosines
  const compared = compareAll(
    asked,
    [...passages.values()].map(({ key, id, title, body }) => {
      const cosine = first.cosines.get(key)
      return { id, title, body, ...defined({ cosine }) }
    }),
  )
  return {
    asked,
    compared,
    respelt: spellings.size > 0,
    ...knownOf(asked, counts, compared),
    ...(nearest === undefined ? {} : { nearest, background: cosines[Math.floor(cosines.length / 2)] ?? nearest }),
  }
}

/** Fractions of the question's weight that the space contains, in the question's words and in other words too. */
function knownOf(
  asked: readonly AskedTerm[],
  counts: readonly number[],
  compared: readonly Compared[],
): { known: number; knownInOtherWords: number } {
  const held = vocabularyOf(compared)
  const total = asked.reduce((sum, { weight }) => sum + weight, 0)
  const share = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / total
  const own = asked.map(({ weight }, at) => ((counts[at] ?? 0) > 0 ? weight : 0))
  const other = asked.map(({ weight, variants }, at) =>
    (counts[at] ?? 0) > 0
      ? weight
      : weight * Math.max(0, ...variants.map(({ term, strength }) => (held.has(term) ? strength : 0))),
  )
  return { known: share(own), knownInOtherWords: share(other) }
}

async function holders(context: EngineContext, where: Searched, term: string): Promise<number> {
  const hits = await visibleHits(context, where, { terms: [term], textK: TERM_CANDIDATES, vectorK: 1 })
  return hits.length
}

/** Weights of terms: by the space's statistics, lower for filler words. */
async function weightsOf(
  context: EngineContext,
  { space }: Searched,
  terms: string[],
  counts: readonly number[],
): Promise<number[]> {
  const countOf = new Map(terms.map((term, at) => [term, counts[at] ?? 0]))
  const { nodes } = await context.db.read(usageOf(space.key))
  const weightByCount = countedWeights((term) => countOf.get(term) ?? 0, nodes)
  const trained = await termWeights(context, space, terms).catch(() => undefined)
  return terms.map((term) => {
    const count = countOf.get(term) ?? 0
    const byCount = weightByCount(term)
    // The space's model knows the weight of a term with more holders than are counted.
    const weight = count < TERM_CANDIDATES ? byCount : Math.min(byCount, trained?.get(term) ?? byCount)
    return Math.max(0.01, weight) * (isFiller(term) ? FILLER_WEIGHT : 1)
  })
}

function synonymsOf(terms: readonly string[]): string[] {
  return [...new Set(terms.flatMap((term) => everydaySynonyms(term)))]
}

/** Distinct terms of passages. */
function vocabularyOf(passages: readonly { title: string; body: string }[]): Set<string> {
  return new Set(passages.flatMap(({ title, body }) => analyzeDocument(`${title}\n${body}`)))
}

/** Terms of the space that an unknown term of the question may mean, as another spelling or form. */
async function respell(
  context: EngineContext,
  where: Searched,
  query: string,
  unknown: readonly string[],
  nearby: ReadonlySet<string>,
): Promise<Map<string, Variant[]>> {
  const words = wordsByTerm(query)
  const found = new Map<string, Variant[]>()
  for (const term of unknown.slice(0, RESPELT)) {
    const variants = new Map<string, number>()
    for (const near of nearby) if (looksLike(term, near)) variants.set(near, AS_FORM)
    const candidates = spellingsOf(words.get(term) ?? term)
    const hits = await visibleHits(context, where, {
      terms: [...candidates.keys()],
      textK: SPELLING_PASSAGES,
      vectorK: 1,
    })
    const keys = hits.map(({ key }) => key)
    const loaded = await context.db.read(loadPassages(where.space.key, keys))
    for (const held of vocabularyOf([...loaded.values()])) {
      const strength = candidates.get(held)
      if (strength !== undefined) variants.set(held, Math.max(strength, variants.get(held) ?? 0))
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
function wordsByTerm(query: string): Map<string, string> {
  const words = query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  return new Map(
    words.flatMap((word) =>
      analyzeContent(word)
        .slice(0, 1)
        .map((term) => [term, word] as const),
    ),
  )
}

function spellingsOf(word: string): Map<string, number> {
  const spellings = new Map<string, number>()
  for (const [left, right] of halvesOf(word))
    for (const half of [left, right]) for (const term of analyzeContent(half)) spellings.set(term, AS_HALF)
  for (const other of oneMistakeAway(word)) for (const term of analyzeContent(other)) spellings.set(term, AS_SPELLING)
  return spellings
}

interface Candidates {
  passages: PassageRow[]
  cosines: ReadonlyMap<number, number>
}

/** The passages that both indexes rank first for some terms, within what the query's readers may know of. */
async function candidates(
  context: EngineContext,
  where: Searched,
  query: string,
  terms: string[],
): Promise<Candidates> {
  const embedded = await embedQuery(context, where.space, query).catch((error: unknown) => {
    context.log.warn({ space: where.space.id, error: String(error) }, 'a failed query is sorted without its vector')
    return undefined
  })
  const hits = await visibleHits(context, where, {
    terms,
    textK: LEG_CANDIDATES,
    vectorK: LEG_CANDIDATES,
    ...defined({ vector: embedded?.vector, vectorSpace: embedded?.vectorSpaceId }),
  })
  const byText = ranked(hits, ({ bm25 }) => bm25).slice(0, COMPARED)
  const byVector = ranked(hits, ({ cosine }) => cosine)
  const cosines = new Map(byVector.map(({ key, cosine }) => [key, cosine ?? 0]))
  const keys = [...new Set([...byText, ...byVector.slice(0, COMPARED)].map(({ key }) => key))]
  const loaded = await context.db.read(loadPassages(where.space.key, keys))
  return { passages: keys.flatMap((key) => loaded.get(key) ?? []), cosines }
}

function ranked(hits: readonly SearchHit[], score: (hit: SearchHit) => number | undefined): SearchHit[] {
  return hits
    .filter((hit) => score(hit) !== undefined)
    .sort((a, b) => (score(b) ?? 0) - (score(a) ?? 0) || a.key - b.key)
}

/** Texts of a few passages, of any subject. */
export function* sampleTexts({ space, audience }: Searched): Read<string[]> {
  return yield* openTexts(space.key, audience, { passages: SAMPLED, characters: SAMPLED_CHARACTERS })
}
