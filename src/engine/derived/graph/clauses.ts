import { ADVERBS, AUXILIARIES } from './function-words.js'
import {
  boundBefore,
  isLegalForm,
  isOwner,
  isPreposition,
  type Phrase,
  phraseAfter,
  phraseBefore,
  type Sentence,
} from './phrases.js'
import type { EndKind } from './predicates.js'

/** The subjects before a verb, and the words in between. */
export interface Subject {
  phrases: Phrase[]
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
const NEGATED = new Set(
  `not no never neither nor none nobody nothing without cannot can't couldn't don't doesn't didn't isn't aren't wasn't
   weren't won't wouldn't hasn't haven't hadn't hardly barely scarcely rarely seldom instead rather longer stopped
   ceased`.split(/\s+/),
)
/** Maximal distance in tokens at which a `not` negates a verb. */
const REACH = 6
const APPOSITION =
  /^(?:an?|the|its|his|her|their|one|formerly|then|now|also|known|based|located|headquartered|founded|which|who|born|led|owned|established|together|along|originally|previously)$/

/** Whether the words before a verb, or the sentence, negate the statement or leave it open. */
export function isUnsaid({ text, tokens }: Sentence, verb: number): boolean {
  const last = tokens.at(-1)
  if (last !== undefined && text[last.start] === '?') return true
  for (let place = verb - 1; place >= 0; place--) {
    const { lower } = tokens[place] ?? { lower: '' }
    if (lower === ';') return false
    // the month is not a modal verb
    if (HYPOTHETICAL.has(lower) && !(place > 0 && tokens[place]?.text === 'May')) return true
    if (NEGATED.has(lower) && (verb - place <= REACH || /^(?:no|none|neither|nobody|nothing)$/.test(lower))) return true
    if (lower === 'to' && place === verb - 1) return true
  }
  return false
}

/** The subject that ends before a token: across auxiliaries, a relative pronoun, an apposition or brackets. */
export function subjectBefore(
  sentence: Sentence,
  before: number,
  kind: EndKind,
  isParticiple = false,
): Subject | undefined {
  const { tokens } = sentence
  const between: string[] = []
  let place = before - 1
  for (; place >= 0; place--) {
    const { lower } = tokens[place] ?? { lower: '' }
    const isFill = AUXILIARIES.has(lower) || ADVERBS.has(lower) || /^\p{Ll}{3,}ly$/u.test(lower)
    if (!isFill || tokens[place]?.mention !== undefined) break
    between.push(lower)
  }
  const end = antecedentBefore(sentence, place)
  if (end === undefined) return undefined
  // of `the cause of the fire that destroyed it`, the fire
  const isRelative = /^(?:which|who|that)$/.test(tokens[place]?.lower ?? '') && tokens[place - 1]?.lower !== ','
  const nearest = isRelative ? phraseBefore(sentence, end) : undefined
  const phrases = isRelative
    ? nearest === undefined || (kind === 'name' && !nearest.isName)
      ? []
      : [nearest]
    : listBefore(sentence, end, kind)
  const [first] = phrases
  // `detection of tumours caused by a virus`: it is open what was caused
  const isOpen = isParticiple && between.length === 0 && !isRelative && first !== undefined
  if (isOpen && (first.name.includes(' of ') || boundBefore(sentence, first) === 'of')) return undefined
  return first === undefined ? undefined : { phrases, between, first: Math.min(...phrases.map((one) => one.first)) }
}

/** Index of the last token that a clause refers to, before commas, brackets and relative pronouns. */
function antecedentBefore({ tokens }: Sentence, from: number): number | undefined {
  let place = from
  const lowerAt = (at: number): string => tokens[at]?.lower ?? ''
  if (/^(?:which|who|that)$/.test(lowerAt(place))) {
    place--
    if (lowerAt(place) === ',') place--
    return closedBefore(tokens, place)
  }
  if (lowerAt(place) === '.' && isLegalForm(lowerAt(place - 1))) place--
  if (lowerAt(place) === ',') {
    if (isLegalForm(lowerAt(place - 1)) && lowerAt(place - 2) === ',') return place - 3
    if (lowerAt(place - 1) === '.' && isLegalForm(lowerAt(place - 2)))
      return lowerAt(place - 3) === ',' ? place - 4 : place - 2
    let open = place - 1
    while (open > 0 && lowerAt(open) !== ',' && place - open < 16) open--
    if (lowerAt(open) !== ',' || !APPOSITION.test(lowerAt(open + 1))) return undefined
    return closedBefore(tokens, open - 1)
  }
  return closedBefore(tokens, place)
}

/** Moves the index before brackets and closing quotes that end there. */
function closedBefore(tokens: Sentence['tokens'], from: number): number {
  let place = from
  while (/^["”’'`»]$/.test(tokens[place]?.text ?? '')) place--
  if (tokens[place]?.text === ')') while (place > 0 && tokens[place]?.text !== '(') place--
  if (tokens[place]?.text === '(') place--
  while (/^["”’'`»]$/.test(tokens[place]?.text ?? '')) place--
  return place
}

/** The phrase that ends at a token and those joined to it: `A, B and C`. Empty where it is a part of something else. */
function listBefore(sentence: Sentence, end: number, kind: EndKind): Phrase[] {
  const { tokens } = sentence
  const found: Phrase[] = []
  let last = end
  for (;;) {
    let phrase = phraseBefore(sentence, last)
    if (phrase === undefined) break
    let bound = boundBefore(sentence, phrase)
    // `the loss of power` is about the loss
    if (bound === 'of' && phrase.mention === undefined && kind === 'any') {
      const whole = wholeOf(sentence, phrase)
      if (whole === undefined) return []
      phrase = whole
      bound = boundBefore(sentence, whole)
    }
    if (bound === 'no' || isPreposition(bound)) return []
    if ((isOwner(bound) || /ing$/.test(bound)) && !phrase.isName) return []
    if (kind === 'name' && !phrase.isName) return found.length > 0 && !/^(?:,|and|or)$/.test(bound) ? found : []
    found.unshift(phrase)
    const joint = tokens[phrase.first - 1]?.lower
    const isList = joint === 'and' || joint === 'or' || (joint === ',' && found.length > 1)
    if (!isList || !(phrase.isName || kind === 'any')) break
    const before = joint !== ',' && tokens[phrase.first - 2]?.lower === ',' ? phrase.first - 3 : phrase.first - 2
    const other = phraseBefore(sentence, before)
    const isModifier =
      other?.isName === false && other.first === other.last && phrase.last > phrase.first && !other.name.endsWith('s')
    if (isModifier) break
    if (other === undefined || other.isName !== phrase.isName) {
      if (joint === 'and' && other === undefined && verbal(sentence, before)) return kind === 'any' ? [] : found
      break
    }
    last = before
  }
  return found
}

/** `the loss of power`, given `power`. */
function wholeOf(sentence: Sentence, phrase: Phrase): Phrase | undefined {
  let place = phrase.first - 1
  while (place > 0 && sentence.tokens[place]?.lower !== 'of') place--
  const head = phraseBefore(sentence, place - 1)
  const start = sentence.tokens[head?.first ?? -1]
  const end = sentence.tokens[phrase.last]
  if (head === undefined || head.isName || start === undefined || end === undefined) return undefined
  if (phrase.last - head.first > 6) return undefined
  return { ...head, name: sentence.text.slice(start.start, end.end).replace(/\s+/g, ' '), last: phrase.last }
}

function verbal({ tokens }: Sentence, place: number): boolean {
  return tokens[place]?.isWord ?? false
}

/** The object phrases from a token on: `A`, `A and B`, `A, B and C`, `its rival, A`. */
export function objectsAfter(sentence: Sentence, from: number, kind: EndKind): Phrase[] {
  const { tokens } = sentence
  if (NEGATED.has(tokens[from]?.lower ?? '')) return []
  let place = from
  while (ADVERBS.has(tokens[place]?.lower ?? '') || /^\p{Ll}{3,}ly$/u.test(tokens[place]?.lower ?? '')) place++
  const first = phraseAfter(sentence, place, kind)
  if (first === undefined) return []
  if (kind === 'name' && !first.isName) return renamed(sentence, first)
  return listFrom(sentence, first, kind)
}

/** `its rival, Acme` and `the carmaker Acme`: returns the name that follows. */
function renamed(sentence: Sentence, phrase: Phrase): Phrase[] {
  const { tokens } = sentence
  if (tokens[phrase.last + 1]?.lower !== ',') return []
  const name = phraseAfter(sentence, phrase.last + 2, 'name')
  const next = tokens[(name?.last ?? 0) + 1]
  return name?.isName && (next === undefined || !next.isWord) ? [name] : []
}

function listFrom(sentence: Sentence, first: Phrase, kind: EndKind): Phrase[] {
  const { tokens } = sentence
  const list = [first]
  if (/ of /.test(first.name) && !first.isName) return list
  let pending: Phrase[] = []
  let last = closedAfter(tokens, first.last)
  for (;;) {
    const joint = tokens[last + 1]?.lower ?? ''
    const isLast = joint === 'and' || (joint === ',' && tokens[last + 2]?.lower === 'and')
    if (!isLast && joint !== ',') return list
    const other = phraseAfter(sentence, last + (joint === ',' && isLast ? 3 : 2), kind)
    // `nginx and PostgreSQL`: perhaps only one of them has a capital
    if (other === undefined || (kind === 'name' && !other.isName)) return list
    if (isLast) return isVerbAfter(tokens[other.last + 1]?.lower) ? list : [...list, ...pending, other]
    pending = [...pending, other]
    last = closedAfter(tokens, other.last)
  }
}

function closedAfter(tokens: Sentence['tokens'], from: number): number {
  let place = from
  while (/^["”’`»]$/.test(tokens[place + 1]?.text ?? '')) place++
  if (tokens[place + 1]?.text !== '(') return place
  for (let at = place + 2; at < place + 8; at++) if (tokens[at]?.text === ')') return at
  return place
}

/** Whether a word makes the phrase before it the subject of another clause. */
function isVerbAfter(lower: string | undefined): boolean {
  if (lower === undefined || !/^\p{L}/u.test(lower)) return false
  return !isPreposition(lower) && lower !== 'and' && lower !== 'which' && lower !== 'who'
}
