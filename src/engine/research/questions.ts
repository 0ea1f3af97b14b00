import { analyzeQuery } from '../../lib/text/analyze.js'

/** The questions of a task beside the whole one; more would ask for the same again. */
export const MAX_QUESTIONS = 8
/** A part of fewer terms is no question of its own. */
const MIN_TERMS = 1
/** A clause before `and` must be this long to stand alone: "salt and pepper" is one thing. */
const MIN_CLAUSE_TERMS = 2
/** Characters of a comparison: what is longer compares nothing, and the pattern would be slow on it. */
const LONGEST_COMPARISON = 500
const LEAD =
  /^(?:please\s+)?(?:compare|contrast|describe|explain|summari[sz]e|list|find|tell me(?: about)?|what (?:is|are)|give(?: me)?)\s+/iu
const COMPARISON =
  /^(?:.*?\b)?(?:compare|contrast|differences?\s+between|similarities\s+between|difference\s+of)\s+(.+?)\s+(?:and|with|to|versus|vs\.?|against)\s+(.+)$/iu
const VERSUS = /^(.+?)\s+(?:versus|vs\.?)\s+(.+)$/iu
/** What a comparison is about stands behind both things that are compared. */
const RESPECT = /\s+(?:in terms of|with respect to|with regard to|regarding|concerning|as to)\s+(.+)$/iu
const QUESTION_WORD =
  'what|which|who|whom|whose|when|where|why|how|is|are|was|were|does|do|did|can|could|should|will|would|has|have'
/** `and how high is it` asks with one word what `and is red` does not. */
const ASKS_OPENLY = /^(?:what|which|who|when|where|why|how)\b/iu
const JOINED = new RegExp(`(?:,\\s*|;\\s*|\\s+)(?:and|or|but|then)\\s+(?=(?:${QUESTION_WORD})\\b)`, 'giu')
const LIST_MARK = /^\s*(?:(?:[-*•]|\(?\d{1,2}[.)]|\(?[a-z]\))\s+)+/iu

/**
 * The questions that a question is made of, by its form: sentences, lines of a list, clauses joined before a question
 * word, the two sides of a comparison. A question that is one gives itself alone.
 *
 * @returns at least one, at most `MAX_QUESTIONS`, in the order they are asked
 */
export function subQuestions(query: string): string[] {
  const parts = query
    // runs of blanks would make the patterns below slow
    .replace(/[^\S\n]+/g, ' ')
    .split(/\n+/)
    .map((line) => line.replace(LIST_MARK, ''))
    .flatMap(sentencesOf)
    .flatMap(clausesOf)
    .flatMap(sidesOf)
    .map((part) => part.replace(/\s+/g, ' ').trim())
    .filter((part) => new Set(analyzeQuery(part)).size >= MIN_TERMS)
  const seen = new Set<string>()
  const distinct = parts.filter((part) => {
    const key = part.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ')
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
  return distinct.length === 0 ? [query.trim()] : distinct.slice(0, MAX_QUESTIONS)
}

function sentencesOf(line: string): string[] {
  return line.split(/(?<=[?？!。！])\s*|(?<=\.)\s+(?=\p{Lu})|;\s+/u).filter((part) => part.trim() !== '')
}

/** `How does X work and why was Y chosen` asks twice; a clause keeps what it is about from its neighbours only by its words. */
function clausesOf(sentence: string): string[] {
  const clauses = sentence.split(JOINED)
  const stands = (clause: string): boolean =>
    analyzeQuery(clause).length >= (ASKS_OPENLY.test(clause) ? MIN_TERMS : MIN_CLAUSE_TERMS)
  return clauses.every(stands) ? clauses : [sentence]
}

function sidesOf(sentence: string): string[] {
  if (sentence.length > LONGEST_COMPARISON) return [sentence]
  const bare = sentence.replace(/[?.!]{1,9}\s?$/, '')
  const respect = RESPECT.exec(bare)?.[1]
  const compared = respect === undefined ? bare : bare.replace(RESPECT, '')
  const found = COMPARISON.exec(compared) ?? VERSUS.exec(compared)
  const [, one, other] = found ?? []
  if (one === undefined || other === undefined) return [sentence]
  const about = respect === undefined ? '' : ` ${respect}`
  return [`${withHead(one.replace(LEAD, ''), other)}${about}`, `${other}${about}`]
}

/** `fast and deep mode` are two modes: a single word takes the noun of the two words that it is compared with. */
function withHead(one: string, other: string): string {
  const [, head, ...rest] = other.split(' ')
  return one.includes(' ') || head === undefined || rest.length > 0 ? one : `${one} ${head}`
}
