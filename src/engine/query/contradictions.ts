import { forEachTerm } from '../../lib/text/analyze.js'
import { splitSentences } from '../../lib/text/sentences.js'

export interface Contradiction {
  /** places of the two items in the list given */
  item: number
  other: number
  reason: string
}

/** Both sentences, with their titles, must hold nearly all of the query: else they may speak of different things. */
const SAME_QUESTION = 0.8
/** Share of their words, numbers left out, that two sentences must have in common to be about the same fact. */
const SAME_STATEMENT = 0.6
/** A negation turns a sentence round only when nearly all other words are the same. */
const SAME_BUT_NEGATED = 0.75

const NEGATION =
  /\b(?:not|never|no longer|cannot|neither)\b|n['’]t\b|不是|没有|沒有|并非|並非|不会|不會|不能|从未|從未/iu
const NUMBER = /\d+(?:,\d{3})*(?:\.\d+)?/g
const YEAR = /^(?:1[5-9]|20)\d\d$/
const ASKS_WHEN =
  /\bwhen\b|\bwhat (?:year|date|day)\b|\bwhich (?:year|date|day)\b|哪一?年|何时|何時|什么时候|什麼時候/iu
const CAPITALISED = /^\p{Lu}/u
const DIGITS = /^\d+$/
/** Two sentences of fewer words differ in one of them too easily. */
const FEWEST_WORDS = 4

interface Statement {
  text: string
  words: Set<string>
  numbers: Set<string>
  years: Set<string>
  negated: boolean
}

/**
 * Pairs of items whose best sentences say the same thing with another number, date or name, or a negation. Careful
 * rather than complete: it compares words, so it speaks up only where nearly everything else is equal.
 *
 * @param query the query's text, to tell whether it asks for a date
 */
export function contradictions(
  query: string,
  terms: readonly string[],
  idf: (term: string) => number,
  items: readonly { title: string; text: string }[],
): Contradiction[] {
  const weights = new Map(terms.map((term) => [term, Math.max(0, idf(term))]))
  const statements = items.map((item) => bestStatement(weights, item))
  const found: Contradiction[] = []
  statements.forEach((one, item) => {
    statements.slice(item + 1).forEach((two, offset) => {
      if (one === undefined || two === undefined) return
      const reason = disagreement(one, two, ASKS_WHEN.test(query)) ?? otherName(query, one.text, two.text)
      if (reason !== undefined) found.push({ item, other: item + 1 + offset, reason })
    })
  })
  return found
}

function termSet(text: string): Set<string> {
  const terms = new Set<string>()
  forEachTerm(text, (term) => terms.add(term))
  return terms
}

/** The sentence that holds most of the query, if with the title it holds nearly all of it. */
function bestStatement(
  weights: ReadonlyMap<string, number>,
  item: { title: string; text: string },
): Statement | undefined {
  const titled = termSet(item.title)
  let total = 0
  for (const weight of weights.values()) total += weight
  let best: { text: string; words: Set<string> } | undefined
  let most = 0
  for (const { start, end } of splitSentences(item.text)) {
    const text = item.text.slice(start, end)
    const words = termSet(text)
    let held = 0
    let inSentence = 0
    for (const [term, weight] of weights) {
      if (words.has(term)) inSentence += weight
      if (words.has(term) || titled.has(term)) held += weight
    }
    if (inSentence <= most || held < SAME_QUESTION * total) continue
    most = inSentence
    best = { text, words }
  }
  if (best === undefined) return undefined
  const numbers = new Set((best.text.match(NUMBER) ?? []).map((number) => number.replaceAll(',', '')))
  return {
    text: best.text,
    words: new Set([...best.words].filter((word) => !DIGITS.test(word))),
    numbers: new Set([...numbers].filter((number) => !YEAR.test(number))),
    years: new Set([...numbers].filter((number) => YEAR.test(number))),
    negated: NEGATION.test(best.text),
  }
}

function disagreement(one: Statement, two: Statement, asksWhen: boolean): string | undefined {
  const alike = overlap(one.words, two.words)
  if (alike < SAME_STATEMENT || one.text === two.text) return undefined
  if (one.negated !== two.negated && alike >= SAME_BUT_NEGATED && same(one.numbers, two.numbers)) return 'negation'
  if (asksWhen && same(one.numbers, two.numbers) && apart(one.years, two.years)) return 'different dates'
  // another year is another fact, not a contradiction
  if (same(one.years, two.years) && apart(one.numbers, two.numbers)) return 'different numbers'
  return undefined
}

/** Two sentences that are equal word by word but for one name, which the query does not name. */
function otherName(query: string, one: string, two: string): string | undefined {
  const [words, others] = [wordsOf(one), wordsOf(two)]
  if (words.length < FEWEST_WORDS || words.length !== others.length) return undefined
  const differing = words.flatMap((word, place) => {
    const other = others[place] ?? ''
    return word.toLowerCase() === other.toLowerCase() ? [] : [word, other]
  })
  const asked = query.toLowerCase()
  const names = differing.every((word) => CAPITALISED.test(word) && !asked.includes(word.toLowerCase()))
  return differing.length === 2 && names ? 'different names' : undefined
}

function wordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{M}\p{N}'’-]+/gu) ?? []
}

function overlap(one: ReadonlySet<string>, two: ReadonlySet<string>): number {
  let common = 0
  for (const word of one) if (two.has(word)) common++
  return common / Math.max(1, one.size + two.size - common)
}

function same(one: ReadonlySet<string>, two: ReadonlySet<string>): boolean {
  return one.size === two.size && [...one].every((value) => two.has(value))
}

/** Both name as many values, and none in common. */
function apart(one: ReadonlySet<string>, two: ReadonlySet<string>): boolean {
  return one.size > 0 && one.size === two.size && [...one].every((value) => !two.has(value))
}
