import { ADVERBS, AUXILIARIES } from './function-words.js'
import {
  findPhraseAfter,
  findPhraseBefore,
  findWordBefore,
  isLegalForm,
  isPossessive,
  isPreposition,
  type NounPhrase,
  type TokenizedSentence,
} from './phrases.js'
import type { EndKind } from './predicates.js'

/** The subjects before a verb, and the words in between. */
export interface VerbSubject {
  phrases: NounPhrase[]
  /** auxiliaries and adverbs in between, in lower case */
  between: string[]
  /** index of the subject's first token */
  first: number
}

/** Words before a verb that make its clause something other than a statement of fact. */
const HYPOTHETICAL = new Set(
  `if whether unless would could should might may suppose supposing assume assuming imagine hypothetical hypothetically
   rumor rumors rumour rumours rumored rumoured plan plans planned planning intend intends intended hope hopes hoped
   consider considers considered considering want wants wanted try tries tried attempt attempts attempted refuse refuses
   refused fail fails failed decline declines declined propose proposes proposed proposal offer offered offers expect
   expects expected wish wishes deny denies denied doubt doubts doubted unclear unlikely perhaps maybe allegedly
   supposedly possibly probably potentially hypothesis hypothesize hypothesized hypothesise hypothesised speculate
   speculated suspected had-been were-to threatened aims aimed untrue false investigate investigated investigating
   determine examine examined test tested ask asked asks believed thought`.split(/\s+/),
)
const NEGATIONS = new Set(
  `not no never neither nor none nobody nothing without cannot can't couldn't don't doesn't didn't isn't aren't wasn't
   weren't won't wouldn't hasn't haven't hadn't hardly barely scarcely rarely seldom instead rather longer stopped
   ceased`.split(/\s+/),
)
/** Maximal distance in tokens at which a `not` negates a verb. */
const MAX_NEGATION_DISTANCE = 6
const APPOSITION =
  /^(?:an?|the|its|his|her|their|one|formerly|then|now|also|known|based|located|headquartered|founded|which|who|born|led|owned|established|together|along|originally|previously)$/

/** Whether the words before a verb, or the sentence, negate the statement or leave it open. */
export function isNotAsserted({ text, tokens }: TokenizedSentence, verb: number): boolean {
  const last = tokens.at(-1)
  if (last !== undefined && text[last.start] === '?') return true
  for (let index = verb - 1; index >= 0; index--) {
    const { lower } = tokens[index] ?? { lower: '' }
    if (lower === ';') return false
    // the month is not a modal verb
    if (HYPOTHETICAL.has(lower) && !(index > 0 && tokens[index]?.text === 'May')) return true
    if (
      NEGATIONS.has(lower) &&
      (verb - index <= MAX_NEGATION_DISTANCE || /^(?:no|none|neither|nobody|nothing)$/.test(lower))
    )
      return true
    if (lower === 'to' && index === verb - 1) return true
  }
  return false
}

/** The subject that ends before a token: across auxiliaries, a relative pronoun, an apposition or brackets. */
export function findSubjectBefore(
  sentence: TokenizedSentence,
  before: number,
  kind: EndKind,
  isParticiple = false,
): VerbSubject | undefined {
  const { tokens } = sentence
  const wordsBetween: string[] = []
  let index = before - 1
  for (; index >= 0; index--) {
    const { lower } = tokens[index] ?? { lower: '' }
    const isFill = AUXILIARIES.has(lower) || ADVERBS.has(lower) || /^\p{Ll}{3,}ly$/u.test(lower)
    if (!isFill || tokens[index]?.mention !== undefined) break
    wordsBetween.push(lower)
  }
  const end = findAntecedentBefore(sentence, index)
  if (end === undefined) return undefined
  // of `the cause of the fire that destroyed it`, the fire
  const isRelative = /^(?:which|who|that)$/.test(tokens[index]?.lower ?? '') && tokens[index - 1]?.lower !== ','
  const nearest = isRelative ? findPhraseBefore(sentence, end) : undefined
  const phrases = isRelative
    ? nearest === undefined || (kind === 'name' && !nearest.isName)
      ? []
      : [nearest]
    : findListBefore(sentence, end, kind)
  const [first] = phrases
  // `detection of tumours caused by a virus`: it is open what was caused
  const isOpen = isParticiple && wordsBetween.length === 0 && !isRelative && first !== undefined
  if (isOpen && (first.name.includes(' of ') || findWordBefore(sentence, first) === 'of')) return undefined
  return first === undefined
    ? undefined
    : { phrases, between: wordsBetween, first: Math.min(...phrases.map((phrase) => phrase.first)) }
}

/** Index of the last token that a clause refers to, before commas, brackets and relative pronouns. */
function findAntecedentBefore({ tokens }: TokenizedSentence, from: number): number | undefined {
  let index = from
  const lowerAt = (position: number): string => tokens[position]?.lower ?? ''
  if (/^(?:which|who|that)$/.test(lowerAt(index))) {
    index--
    if (lowerAt(index) === ',') index--
    return skipClosingBefore(tokens, index)
  }
  if (lowerAt(index) === '.' && isLegalForm(lowerAt(index - 1))) index--
  if (lowerAt(index) === ',') {
    if (isLegalForm(lowerAt(index - 1)) && lowerAt(index - 2) === ',') return index - 3
    if (lowerAt(index - 1) === '.' && isLegalForm(lowerAt(index - 2)))
      return lowerAt(index - 3) === ',' ? index - 4 : index - 2
    let open = index - 1
    while (open > 0 && lowerAt(open) !== ',' && index - open < 16) open--
    if (lowerAt(open) !== ',' || !APPOSITION.test(lowerAt(open + 1))) return undefined
    return skipClosingBefore(tokens, open - 1)
  }
  return skipClosingBefore(tokens, index)
}

/** Moves the index before brackets and closing quotes that end there. */
function skipClosingBefore(tokens: TokenizedSentence['tokens'], from: number): number {
  let index = from
  while (/^["”’'`»]$/.test(tokens[index]?.text ?? '')) index--
  if (tokens[index]?.text === ')') while (index > 0 && tokens[index]?.text !== '(') index--
  if (tokens[index]?.text === '(') index--
  while (/^["”’'`»]$/.test(tokens[index]?.text ?? '')) index--
  return index
}

/** The phrase that ends at a token and those joined to it: `A, B and C`. Empty where it is a part of something else. */
function findListBefore(sentence: TokenizedSentence, end: number, kind: EndKind): NounPhrase[] {
  const { tokens } = sentence
  const found: NounPhrase[] = []
  let last = end
  for (;;) {
    let phrase = findPhraseBefore(sentence, last)
    if (phrase === undefined) break
    let bound = findWordBefore(sentence, phrase)
    // `the loss of power` is about the loss
    if (bound === 'of' && phrase.mention === undefined && kind === 'any') {
      const headPhrase = findHeadPhrase(sentence, phrase)
      if (headPhrase === undefined) return []
      phrase = headPhrase
      bound = findWordBefore(sentence, headPhrase)
    }
    if (bound === 'no' || isPreposition(bound)) return []
    if ((isPossessive(bound) || /ing$/.test(bound)) && !phrase.isName) return []
    if (kind === 'name' && !phrase.isName) return found.length > 0 && !/^(?:,|and|or)$/.test(bound) ? found : []
    found.unshift(phrase)
    const joint = tokens[phrase.first - 1]?.lower
    const isList = joint === 'and' || joint === 'or' || (joint === ',' && found.length > 1)
    if (!isList || !(phrase.isName || kind === 'any')) break
    const before = joint !== ',' && tokens[phrase.first - 2]?.lower === ',' ? phrase.first - 3 : phrase.first - 2
    const other = findPhraseBefore(sentence, before)
    const isModifier =
      other?.isName === false && other.first === other.last && phrase.last > phrase.first && !other.name.endsWith('s')
    if (isModifier) break
    if (other === undefined || other.isName !== phrase.isName) {
      if (joint === 'and' && other === undefined && sentence.tokens[before]?.isWord === true)
        return kind === 'any' ? [] : found
      break
    }
    last = before
  }
  return found
}

/** `the loss of power`, given `power`. */
function findHeadPhrase(sentence: TokenizedSentence, phrase: NounPhrase): NounPhrase | undefined {
  let index = phrase.first - 1
  while (index > 0 && sentence.tokens[index]?.lower !== 'of') index--
  const head = findPhraseBefore(sentence, index - 1)
  const start = sentence.tokens[head?.first ?? -1]
  const end = sentence.tokens[phrase.last]
  if (head === undefined || head.isName || start === undefined || end === undefined) return undefined
  if (phrase.last - head.first > 6) return undefined
  return { ...head, name: sentence.text.slice(start.start, end.end).replace(/\s+/g, ' '), last: phrase.last }
}

/** The object phrases from a token on: `A`, `A and B`, `A, B and C`, `its rival, A`. */
export function findObjectsAfter(sentence: TokenizedSentence, from: number, kind: EndKind): NounPhrase[] {
  const { tokens } = sentence
  if (NEGATIONS.has(tokens[from]?.lower ?? '')) return []
  let index = from
  while (ADVERBS.has(tokens[index]?.lower ?? '') || /^\p{Ll}{3,}ly$/u.test(tokens[index]?.lower ?? '')) index++
  const first = findPhraseAfter(sentence, index, kind)
  if (first === undefined) return []
  if (kind === 'name' && !first.isName) return findAppositionName(sentence, first)
  return findListFrom(sentence, first, kind)
}

/** `its rival, Acme` and `the carmaker Acme`: returns the name that follows. */
function findAppositionName(sentence: TokenizedSentence, phrase: NounPhrase): NounPhrase[] {
  const { tokens } = sentence
  if (tokens[phrase.last + 1]?.lower !== ',') return []
  const name = findPhraseAfter(sentence, phrase.last + 2, 'name')
  const next = tokens[(name?.last ?? 0) + 1]
  return name?.isName && (next === undefined || !next.isWord) ? [name] : []
}

function findListFrom(sentence: TokenizedSentence, first: NounPhrase, kind: EndKind): NounPhrase[] {
  const { tokens } = sentence
  const list = [first]
  if (/ of /.test(first.name) && !first.isName) return list
  let pending: NounPhrase[] = []
  let last = skipClosingAfter(tokens, first.last)
  for (;;) {
    const joint = tokens[last + 1]?.lower ?? ''
    const isLast = joint === 'and' || (joint === ',' && tokens[last + 2]?.lower === 'and')
    if (!isLast && joint !== ',') return list
    const other = findPhraseAfter(sentence, last + (joint === ',' && isLast ? 3 : 2), kind)
    // `nginx and PostgreSQL`: perhaps only one of them has a capital
    if (other === undefined || (kind === 'name' && !other.isName)) return list
    if (isLast) return startsOtherClause(tokens[other.last + 1]?.lower) ? list : [...list, ...pending, other]
    pending = [...pending, other]
    last = skipClosingAfter(tokens, other.last)
  }
}

function skipClosingAfter(tokens: TokenizedSentence['tokens'], from: number): number {
  let index = from
  while (/^["”’`»]$/.test(tokens[index + 1]?.text ?? '')) index++
  if (tokens[index + 1]?.text !== '(') return index
  for (let position = index + 2; position < index + 8; position++) if (tokens[position]?.text === ')') return position
  return index
}

/** Whether a word makes the phrase before it the subject of another clause. */
function startsOtherClause(lower: string | undefined): boolean {
  if (lower === undefined || !/^\p{L}/u.test(lower)) return false
  return !isPreposition(lower) && lower !== 'and' && lower !== 'which' && lower !== 'who'
}
