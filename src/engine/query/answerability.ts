import { analyzeQuery, forEachTerm } from '../../lib/text/analyze.js'
import { type AskedOf, answerConfidence, weightOf } from './confidence.js'
import { type Contradiction, contradictions } from './contradictions.js'
import type { Features } from './rerank.js'

type JudgedState = 'answerable' | 'partial' | 'conflict' | 'not-enough-evidence'

export interface JudgedItem {
  text: string
  title: string
  /** final score, 0 to 1 */
  score: number
  features?: Features
}

export interface Verdict {
  state: JudgedState
  /** pairs of items (by place) that say different things */
  conflicts: Contradiction[]
  /** words of the query that no item holds, as the query spells them */
  uncovered: string[]
}

/**
 * Below this confidence nothing found is near the question. On sets of questions that were put aside at most 5 % of those
 * asked of their own documents are refused, and four in five of those asked of another subject's (bench/meaning/gate.ts).
 */
export const REFUSE_BELOW = 0.1
/** From here on the evidence is taken to answer; below it the closest passages are told as such. */
export const ANSWER_FROM = 0.5
/** Share of the query's weight that the items must hold together; with less, some of the question is left open. */
export const COVERED_FROM = 0.5
/** Items looked at for coverage and contradiction. */
const CONSIDERED = 5
/** A contradicting item must come this near to the best score. */
const COMPARABLE = 0.8
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u

/**
 * What the evidence amounts to, from the best items' scores, what of the query they hold, and whether they agree.
 *
 * @param request `items` in rank order; `idf` weighs the terms
 */
export function evidenceState(request: {
  query: string
  terms: readonly string[]
  idf: (term: string) => number
  /** absent: passages are compared by their scores alone */
  asked?: AskedOf
  items: readonly JudgedItem[]
}): Verdict {
  const considered = request.items.slice(0, CONSIDERED)
  const top = considered[0]?.score ?? 0
  const held = new Set<string>()
  for (const { title, text } of considered) forEachTerm(`${title}\n${text}`, (term) => held.add(term))
  const asked = new Set(request.terms)
  const uncovered = uncoveredWords(request.query, asked, held)
  if (considered.length === 0 || top < REFUSE_BELOW) return { state: 'not-enough-evidence', conflicts: [], uncovered }
  const conflicts = conflictsAmong(request, considered)
  if (conflicts.length > 0) return { state: 'conflict', conflicts, uncovered }
  const found = [...asked].filter((term) => held.has(term))
  const covered = weightOf(found, request.idf) / weightOf(asked, request.idf)
  const answers = top >= ANSWER_FROM && !(covered < COVERED_FROM)
  return { state: answers ? 'answerable' : 'partial', conflicts, uncovered }
}

/**
 * Contradictions among items that are comparable with the best one. Scores are relative to the candidates: of two that
 * say nearly the same the second may have half of the first's. So the confidence in each by itself counts too.
 */
function conflictsAmong(
  { query, terms, idf, asked }: Omit<Parameters<typeof evidenceState>[0], 'items'>,
  considered: readonly JudgedItem[],
): Contradiction[] {
  const alone = (item: JudgedItem | undefined): number =>
    item?.features === undefined || asked === undefined ? 0 : answerConfidence(item.features, asked)
  const [best] = considered
  const places = considered.flatMap((item, place) =>
    item.score >= COMPARABLE * (best?.score ?? 0) || alone(item) >= Math.max(ANSWER_FROM, COMPARABLE * alone(best))
      ? [place]
      : [],
  )
  const items = places.flatMap((place) => considered[place] ?? [])
  return contradictions(query, terms, idf, items).map(({ item, other, reason }) => ({
    item: places[item] ?? item,
    other: places[other] ?? other,
    reason,
  }))
}

/** Words of the query whose terms nothing holds; of a run of an unspaced script, the stretches that are missing. */
function uncoveredWords(query: string, asked: ReadonlySet<string>, held: ReadonlySet<string>): string[] {
  const missing = new Set<string>()
  for (const [word] of query.matchAll(/[\p{L}\p{M}\p{N}_'’]+/gu)) {
    const absent = analyzeQuery(word).filter((term) => asked.has(term) && !held.has(term))
    if (absent.length === 0) continue
    if (UNSPACED.test(word)) for (const stretch of joined(word, absent)) missing.add(stretch)
    else missing.add(word)
  }
  return [...missing]
}

/** Overlapping pairs as the stretches of text that they cover. */
function joined(word: string, pairs: readonly string[]): string[] {
  const covered = new Set<number>()
  for (const pair of pairs) {
    const at = word.toLowerCase().indexOf(pair)
    if (at >= 0) for (let i = 0; i < pair.length; i++) covered.add(at + i)
  }
  const marked = Array.from({ length: word.length }, (_, i) => (covered.has(i) ? word.slice(i, i + 1) : ' ')).join('')
  return marked.split(' ').filter((stretch) => stretch !== '')
}
