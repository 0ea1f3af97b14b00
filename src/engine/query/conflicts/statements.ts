import { once } from '../../../lib/once.js'
import { forEachTerm } from '../../../lib/text/analyze.js'
import { QUERY_STOP_WORDS } from '../../../lib/text/stop-words.js'
import { type Moment, readDates } from './dates.js'
import type { Line } from './parallel.js'
import { type Quantity, readQuantities } from './quantities.js'
import { type Scope, scopeOf } from './scope.js'
import { unitOf } from './units.js'
import { readVocabulary, type Vocabulary } from './vocabulary.js'

/** A content word of a statement. */
export interface Word {
  concept: string
  /** its stem, before words of one meaning became one concept */
  stem: string
  shown: string
  isName: boolean
  /** it stands before the verb */
  isSubject: boolean
  isDenied: boolean
  /** an article or a preposition stands before it */
  isNoun: boolean
  place: number
}

/** A clause as facts are compared: what it speaks of, and what it says in numbers, dates and words with an opposite. */
export interface Statement {
  /** the sentence that it stands in */
  sentence: string
  words: Word[]
  /** `words` by concept */
  concepts: ReadonlySet<string>
  quantities: Quantity[]
  moments: Moment[]
  /** scale to its end, turned round where it is denied */
  ends: ReadonlyMap<string, { end: 1 | -1; shown: string; isSubject: boolean; isWeak?: boolean }>
  /** concept of the first word that is denied */
  denied: string | undefined
  isNever: boolean
  /** read when first asked for: most statements are never compared so far */
  scope: () => Scope
  isGerman: boolean
  /** tokens before the verb; undefined where no verb was found */
  verbAt: number | undefined
  verb: string
  line: Line
}

let known: Vocabulary | undefined
/** The vocabulary, by the stems of the text analyser. */
export function vocabulary(): Vocabulary {
  known ??= readVocabulary(stemOf)
  return known
}

/** The analyser's first term of a word: its stem. */
export function stemOf(word: string): string {
  let stem = ''
  forEachTerm(word, (term) => {
    if (stem === '') stem = term
  })
  return stem === '' ? word : stem
}

const PHRASES: readonly (readonly [RegExp, string])[] = [
  [/\b(?:switched|turned) on\b/giu, 'enabled'],
  [/\b(?:switched|turned) off\b/giu, 'disabled'],
  [
    /\bfree of charge\b|\bat no (?:charge|cost)\b|\bno (?:charge|fee)\b|\bdo(?:es)? not (?:pay|cost)(?: anything)?(?: for)?\b|\bwithout charge\b/giu,
    'free',
  ],
  [/\b(?:goes|go|went|gone|going) up\b/giu, 'increased'],
  [/\b(?:goes|go|went|gone|going) down\b/giu, 'decreased'],
  [/\bc[ao]mes? to an end\b|\bcame to an end\b/giu, 'ended'],
  [/\b(?:comes?|came|enters?|entered) into force\b|\btook effect\b|\btakes effect\b/giu, 'inforce'],
  [/\b(?:go|goes|went) public\b|\bstock market (?:launch|debut)\b|\binitial public offering\b/giu, 'ipo'],
  [/\btook place\b|\btakes? place\b|\btaking place\b/giu, 'held'],
  [/\bset up\b/giu, 'founded'],
  [/\bopen until\b|\bopen till\b/giu, 'closes at'],
  [/\bdegrees? (?:celsius|centigrade)\b/giu, '°C'],
  [/\bdegrees? fahrenheit\b/giu, '°F'],
  [/\bopen[- ]source\b/giu, 'opensource'],
  [/\bplain text\b/giu, 'plaintext'],
  [/\btime zones?\b/giu, 'timezone'],
  [/\bno longer\b/giu, 'not'],
  [/\bcannot\b|\bcan['’]t\b/giu, 'can not'],
  [/(?<=\p{L})n['’]t\b/giu, ' not'],
  [/\bin charge of\b|\bresponsible for\b/giu, 'responsible'],
]
const TOKEN =
  /\d{1,2}:\d{2}|\d+(?:[.,]\d+)*|km\/h|m\/s|°\s?[CF]?|[€$£¥%]|\p{L}[\p{L}\p{M}\p{N}]*(?:['’](?!s\b)\p{L}+)?|['’]s\b|[–—-]|[.,;:()]/giu
const NEGATORS = new Set(
  'not never no none neither nor without nicht kein keine keinen keiner keines nie niemals ohne'.split(' '),
)
const GERMAN = /\b(?:der|die|das|ist|sind|wird|werden|wurde|und|nicht|ein|eine|im|mit|für|beträgt|dauert)\b/gu
const GERMAN_STOPS = new Set(
  'der die das den dem des ein eine einen einem einer eines und oder mit für von vom zu zum zur im in am an auf bei aus nach es sich als auch nur dass uhr er sie'.split(
    ' ',
  ),
)
const STOPS = new Set(
  'until within per every once twice up at least upto away another further without toward towards across upon onto off out after before since via its their'.split(
    ' ',
  ),
)
/** Being able is not quite being allowed. */
const MAY = /^(?:may|can|darf|dürfen)$/u
const PRONOUN = /^(?:it|they|this|these|that|those|he|she|which|who|er|sie|es|both|here|there)$/iu
const JOINT =
  /;\s+|:\s+|,?\s+(?:but|while|whereas|although|though|yet|aber|während)\s+|,\s+(?:and|which|who|und)\s+|\s+(?:and|und)\s+(?=(?:is|are|was|were|has|have|had|can|cannot|may|must|will|does|do|did|kept|takes?|costs?|runs?|lasts?|allows?|needs?|held|made|\p{L}{3,}ed|wird|werden|ist|hat)\b)/giu
const BARE_DENIAL = /,?\s+(?:but |and )?(?:not|no|nicht|kein\p{L}*)\s+[^,;.]*$/iu
/** A clause that is longer is text without stops. */
const MOST_TOKENS = 80

/**
 * Statements of a text's sentences, of those that are wanted.
 *
 * @param isWanted by place
 */
export function readStatements(sentences: readonly string[], isWanted: readonly boolean[]): Statement[] {
  const found: Statement[] = []
  let subject = ''
  for (const [place, sentence] of sentences.entries()) {
    const isNext = isWanted[place + 1] === true
    if (isWanted[place] !== true && !isNext) {
      subject = ''
      continue
    }
    for (const clause of clausesOf(sentence)) {
      const read = readClause(resume(clause, subject), sentence)
      if (read === undefined) continue
      if (isWanted[place] === true) found.push(read.statement)
      if (read.subject !== '') subject = read.subject
    }
  }
  return found
}

/** Clauses of a sentence; what only denies another thing (`but not the café`) is left out. */
function clausesOf(sentence: string): string[] {
  const parts = sentence.split(JOINT).filter((part) => part !== undefined && part.trim() !== '')
  const clauses: string[] = []
  for (const part of parts) {
    const isFirst = clauses.length === 0
    if (!isFirst && !hasVerb(part)) {
      const bare = /^(?:not|no|nicht|kein\p{L}*)\b/iu.test(part.trim())
      if (!bare) clauses.push(`${clauses.pop() ?? ''} ${part}`)
      continue
    }
    clauses.push(part)
  }
  return clauses.map((clause) => {
    const denial = /,\s+(?:but |and )?(?:not|nicht)\b/iu.test(clause) ? BARE_DENIAL.exec(clause) : null
    return denial === null || hasVerb(denial[0]) ? clause : clause.slice(0, denial.index)
  })
}

function hasVerb(part: string): boolean {
  const { isVerb } = vocabulary()
  return (part.match(/\p{L}[\p{L}'’]*/gu) ?? []).some((word) => isVerb(word.toLowerCase()) || /\p{L}{3}ed$/u.test(word))
}

/** A clause that leaves its subject to the one before it. */
function resume(clause: string, subject: string): string {
  if (subject === '') return clause
  const [first = ''] = clause.trim().split(/\s+/u)
  if (PRONOUN.test(first) && !/^there$/iu.test(first)) return `${subject} ${clause.trim().slice(first.length).trim()}`
  const word = first.toLowerCase()
  const isVerb = /^\p{Ll}/u.test(first) && (vocabulary().isVerb(word) || /\p{L}{3}ed$/u.test(word))
  return isVerb ? `${subject} ${clause.trim()}` : clause
}

function readClause(clause: string, sentence: string): { statement: Statement; subject: string } | undefined {
  let text = clause
  for (const [pattern, plain] of PHRASES) text = text.replace(pattern, plain)
  const shown = [...text.matchAll(TOKEN)].map(([token]) => token).filter((token) => !/^['’]s$/iu.test(token))
  if (shown.length < 2 || shown.length > MOST_TOKENS) return undefined
  const tokens = shown.map((token) => token.toLowerCase().replace(/\s/gu, ''))
  const isGerman = (text.match(GERMAN) ?? []).length >= 2
  const { concept, general, opposite } = vocabulary()
  const taken = tokens.map(() => false)
  // the number of a version or a model counts nothing: `Quill 1.4`, `the Trek 2 watch`
  for (const [place, token] of tokens.entries())
    if (place > 1 && /^\d{1,3}(?:\.\d+)?$/.test(token) && isNamed(shown, place - 1) && !isMeasured(tokens, place))
      taken[place] = true
  const isContent = (word: string): boolean =>
    /^\p{L}/u.test(word) &&
    !QUERY_STOP_WORDS.has(word) &&
    !STOPS.has(word) &&
    !NEGATORS.has(word) &&
    !(isGerman && GERMAN_STOPS.has(word))
  const conceptOf = (word: string): string | undefined => (isContent(word) ? concept(stemOf(word)) : undefined)
  const moments = readDates(
    tokens,
    taken,
    (place) => /^\p{Lu}/u.test(shown[place] ?? ''),
    (word) => unitOf(word) !== undefined,
  )
  const quantities = readQuantities({ tokens, taken, isGerman, conceptOf }).map((quantity) => inYears(quantity, text))
  const verbAt = verbOf(tokens, shown)
  const words: Word[] = []
  const ends = new Map<string, { end: 1 | -1; shown: string; isSubject: boolean; isWeak?: boolean }>()
  const allowed = opposite(stemOf('allow'))?.scale ?? ''
  let isDenied = false
  let denied: string | undefined
  for (const [place, token] of tokens.entries()) {
    if (NEGATORS.has(token)) isDenied = true
    if (token === ',') isDenied = false
    if (place > 0 && MAY.test(token) && tokens[place + 1] !== 'be' && !ends.has(allowed))
      ends.set(allowed, {
        end: tokens[place + 1] === 'not' ? -1 : 1,
        shown: shown[place] ?? '',
        isSubject: false,
        isWeak: true,
      })
    if (taken[place] === true || !isContent(token)) continue
    const stem = stemOf(token)
    const isSubject = verbAt !== undefined && place < verbAt
    const scale = opposite(stem)
    if (scale !== undefined && (!ends.has(scale.scale) || ends.get(scale.scale)?.isWeak === true))
      ends.set(scale.scale, { end: isDenied ? turned(scale.end) : scale.end, shown: shown[place] ?? '', isSubject })
    const isName = !isGerman && isNamed(shown, place)
    if (general.has(stem) && scale === undefined && !isName) continue
    const word = {
      concept: /^\p{Lu}{2,}$/u.test(shown[place] ?? '') ? token : concept(stem),
      stem,
      shown: shown[place] ?? '',
      isName,
      isSubject,
      isDenied,
      isNoun: isNounAt(tokens, place),
      place,
    }
    if (isDenied && denied === undefined) denied = word.concept
    words.push(word)
  }
  if (isDenied && denied === undefined)
    denied = words.find(({ isSubject }) => !isSubject)?.concept ?? words.at(-1)?.concept
  const statement: Statement = {
    sentence,
    words,
    concepts: new Set(words.map((word) => word.concept)),
    quantities,
    moments,
    ends,
    denied,
    isNever: tokens.includes('never'),
    scope: once(() => scopeOf(text)),
    isGerman,
    verbAt,
    verb: tokens[verbAt ?? -1] ?? '',
    line: tokens.flatMap((token, place) =>
      taken[place] === true
        ? taken[place - 1] === true
          ? []
          : [{ key: '#', place }]
        : [{ key: conceptOf(token) ?? token, place }],
    ),
  }
  return { statement, subject: verbAt === undefined ? '' : shown.slice(0, verbAt).join(' ') }
}

const BEFORE_NOUN =
  /^(?:a|an|the|of|in|on|at|for|by|from|with|to|its|their|our|his|her|my|your|this|that|each|every|der|die|das|ein|eine|des|dem|den|von|im)$/u

function isNounAt(tokens: readonly string[], place: number): boolean {
  return BEFORE_NOUN.test(tokens[place - 1] ?? '')
}

/** Where the verb is: a known one, a form in `-ed`, or a word in `-s` that is no plural by what stands before it. */
function verbOf(tokens: readonly string[], shown: readonly string[]): number | undefined {
  const { isVerb } = vocabulary()
  const find = (test: (token: string, place: number) => boolean): number =>
    tokens.findIndex((token, place) => place > 0 && !isNounAt(tokens, place) && test(token, place))
  const known = find(isVerb)
  if (known >= 0) return known
  const past = find((token, place) => /^\p{Ll}{3,}ed$/u.test(shown[place] ?? '') && token.length > 4)
  if (past >= 0) return past
  const present = find(
    (_, place) =>
      /^\p{Ll}{2,}[^\P{Ll}su]s$/u.test(shown[place] ?? '') && /\p{L}{2}[^s]$/u.test(tokens[place - 1] ?? ''),
  )
  return present < 0 ? undefined : present
}

function turned(end: 1 | -1): 1 | -1 {
  return end === 1 ? -1 : 1
}

function isMeasured(tokens: readonly string[], place: number): boolean {
  const next = tokens[place + 1] ?? ''
  return (
    unitOf(next) !== undefined ||
    MONTH.test(tokens[place - 1] ?? '') ||
    /^(?:million|billion|thousand|st|nd|rd|th)$/.test(next)
  )
}

const MONTH = /^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mai|mär|okt|dez)/u
const AGE = /\b(?:age|aged|alter)\b/iu
const YEAR_SECONDS = 365.25 * 86_400

/** A bare number beside `age` is one of years. */
function inYears(quantity: Quantity, text: string): Quantity {
  const { measure, counted, low, high } = quantity
  if (measure !== 'count' || counted !== '' || !AGE.test(text)) return quantity
  return { ...quantity, measure: 'time', low: low * YEAR_SECONDS, high: high * YEAR_SECONDS }
}

function isNamed(shown: readonly string[], place: number): boolean {
  const token = shown[place] ?? ''
  if (!/^\p{Lu}/u.test(token)) return false
  if (place > 0 && !/^[.:]$/u.test(shown[place - 1] ?? '')) return true
  return /^\p{Lu}/u.test(shown[place + 1] ?? '') || /^\p{Lu}{2}/u.test(token)
}
