import { detectLanguageOfQuestion } from '../../../lib/text/analyze.js'
import { findDates, type WrittenDate } from '../../../lib/text/dates.js'
import type { Language } from '../../../lib/text/languages.js'
import { findTimeOrder } from '../../../lib/text/requested-time.js'
import { getQuestionStopWords } from '../../../lib/text/stop-words.js'
import { findUnit } from './measures.js'
import { parseNumberAt } from './numbers.js'
import type { PassageUnit } from './passage-units.js'
import { findScaleEnd, getPermissionScale, isNegator, type ScaleEnd } from './polarity.js'
import { type Quantity, readQuantities } from './quantities.js'
import { stemOf } from './stem.js'

/** A content word of a statement; tokens of numbers and dates are excluded. */
export interface StatementWord {
  stem: string
  shown: string
  /** capitalised within a sentence, in languages where capitals mark names */
  isName: boolean
  /** before the verb */
  isSubject: boolean
  /** a verb or participle: it connects a subject to its value and names neither */
  isVerbal: boolean
  index: number
}

/** End of a scale that a statement asserts, inverted when it is denied; `isWeak` for a modal verb. */
interface StatedEnd extends ScaleEnd {
  shown: string
  isWeak: boolean
}

/** A date in a statement, as written. */
export interface Moment extends WrittenDate {
  shown: string
}

/** A clause, a labelled value or a cell with its headers, prepared for comparison. */
export interface Statement {
  /** the text that is quoted */
  sentence: string
  words: readonly StatementWord[]
  stems: ReadonlySet<string>
  quantities: readonly Quantity[]
  /** number of quantities that narrow the subject: `trainees under 18 work …` */
  subjectQuantities: number
  moments: readonly Moment[]
  /** by scale */
  ends: ReadonlyMap<number, StatedEnd>
  isDenied: boolean
  /** stems of the value of a label or cell, without those of the label; undefined for a clause */
  value: ReadonlySet<string> | undefined
  /** true only under a condition, or according to a third party */
  isHedged: boolean
  /** true at a certain stage only */
  isStaged: boolean
  /** whether it describes the past, or replaces it */
  order: 'older' | 'newer' | undefined
  /** normalized tokens for alignment; each number or date becomes `#` */
  line: readonly string[]
}

const TOKEN =
  /\d{1,2}:\d{2}|\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?![\d.,])|\d+(?:[.,]\d+)*|km\/h|m\/s|°\s?[CF]?|[\p{Sc}%]|\p{L}[\p{L}\p{M}\p{N}]*(?:['’](?!s\b)\p{L}+)?|[–—-]|[.,;:()]/giu
const CJK_RUN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]+/gu
const segmenter = new Intl.Segmenter('zh', { granularity: 'word' })
/** A longer clause is text without stops. */
const MAX_TOKENS = 80
/** A sentence with more numbers is a row of results: which of its clauses belong together is unknown. */
const MAX_NUMBERS = 6
const NUMBER = /\d+(?:[.,]\d+)*/gu
const CLAUSE_END =
  /;\s+|,\s+(?=(?:not|nicht|pas|no)\s)|[,:]?\s+(?:but|while|whereas|although|though|aber|während|mais|pero)\s+|,\s+(?:and|und|et|y)\s+(?=\p{Ll}+ (?:is|are|was|has|can|may|ist|sind|hat|est|sont|es|son)\b)/giu
/** `No, dogs are not allowed`: one denial. */
const INTERJECTION = /^\W*(?:yes|no|ja|nein|oui|non|sí)\s*,\s*/iu
const PRONOUN = /^\W*(?:it|they|this|these|that|those|he|she|er|sie|es|dies\p{L}*|il|elle|ils|elles|ce|ello|esto)\s/iu
const CONDITION =
  /(?<!\p{L})(?:if|unless|would|might|could(?! not)|except|provided|proposed|planned|draft|wenn|falls|sofern|würde|außer|geplant|si|sauf|salvo|excepto)(?!\p{L})/iu
const STAGED =
  /(?<!\p{L})(?:after|once|when|while|during|before|nach|sobald|während|bevor|après|avant|pendant|después|antes|cuando)(?!\p{L})/iu
/** Reported speech: `critics claim that …`. */
const REPORTED = /\p{L}{3,}\s+(?:that|dass|que)\s+\p{L}|\b(?:allegedly|reportedly|angeblich)\b/iu
/** Auxiliaries by language: the verb of most clauses that state a fact. */
const AUXILIARIES = new Map(
  [
    'en is are was were be been has have had can may must will would should does do did',
    'de ist sind war waren wird werden wurde wurden hat haben kann können darf dürfen muss müssen soll',
    'fr est sont était a ont peut peuvent doit doivent',
    'es es son era está están hay ha puede pueden debe deben tiene tienen',
  ].map((line): [string, ReadonlySet<string>] => [line.slice(0, 2), new Set(line.slice(3).split(' '))]),
)
const MODALS = new Set('may can darf dürfen kann können peut peuvent puede pueden'.split(' '))
const GENITIVES = new Set('of de du des der del della von la le el los las les d'.split(' '))
/** Function words without their own meaning; stop lists of questions lack some of them. */
const EXTRA_STOP_WORDS = new Set(
  'behind beside near around above inside outside until within per every once twice up at least away another further without toward onto off out after before since via still now all longer uhr h'.split(
    ' ',
  ),
)
const PARTICIPLE = /\p{L}{3}ed$/u

/** Reads the statements of one unit of a passage; those of a sentence are its clauses. */
export function readStatements(unit: PassageUnit): Statement[] {
  const { text, label, quote } = unit
  if (label !== undefined) {
    const read = readClause(`${label}: ${text}`, quote, label.length)
    return read === undefined ? [] : [read]
  }
  if ((text.match(NUMBER)?.length ?? 0) > MAX_NUMBERS) return []
  return text
    .replace(INTERJECTION, '')
    .split(CLAUSE_END)
    .flatMap((clause, index) => {
      if (clause === undefined || (index > 0 && /^(?:not|nicht|kein|pas|no)\b/iu.test(clause.trim()))) return []
      const resumed = PRONOUN.test(clause) ? `${unit.before} ${clause}` : clause
      return readClause(resumed, quote, undefined) ?? []
    })
}

/** Stems of the content words of a text, as in statements. */
export function listContentStems(text: string): string[] {
  const stops = getQuestionStopWords(detectLanguageOfQuestion(text))
  return tokenize(addWordSpaces(text)).flatMap((token) => (isContent(token, stops) ? [stemAt(token)] : []))
}

function tokenize(text: string): StatementToken[] {
  return [...text.matchAll(TOKEN)].flatMap(({ 0: shown, index }) =>
    /^s$/iu.test(shown) ? [] : [{ shown, lower: shown.toLowerCase().replace(/[\s\u00a0\u202f]/gu, ''), offset: index }],
  )
}

function isContent({ lower }: StatementToken, stops: ReadonlySet<string>): boolean {
  return /^\p{L}/u.test(lower) && !stops.has(lower) && !EXTRA_STOP_WORDS.has(lower) && !isNegator(lower)
}

/** Puts spaces between the words of Chinese and Japanese. */
function addWordSpaces(text: string): string {
  return text.replace(CJK_RUN, (run) => ` ${[...segmenter.segment(run)].map(({ segment }) => segment).join(' ')} `)
}

interface StatementToken {
  shown: string
  lower: string
  offset: number
}

/** @param labelEnd offset where the value starts; undefined for a clause */
function readClause(written: string, quote: string, labelEnd: number | undefined): Statement | undefined {
  const text = addWordSpaces(written)
  const tokens = tokenize(text)
  if (tokens.length < 2 || tokens.length > MAX_TOKENS) return undefined
  const language = detectLanguageOfQuestion(text)
  const stops = getQuestionStopWords(language)
  const lowers = tokens.map(({ lower }) => lower)
  const content = tokens.map(
    (token, index) => isContent(token, stops) && parseNumberAt(lowers, index, false) === undefined,
  )
  const taken = tokens.map(() => false)
  const moments = findMoments(text, tokens, taken, content)
  const verbAt = labelEnd === undefined ? findVerb(tokens, content, taken, language) : undefined
  const quantities = readQuantities({
    tokens: lowers,
    taken,
    isGerman: language !== 'en',
    stemAt: (index) => (content[index] === true && tokens[index] !== undefined ? stemAt(tokens[index]) : undefined),
    isIdentifier: (index) => taken[index - 1] !== true && isIdentifier(tokens, content, index, verbAt),
  })
  const denials = tokens.filter(({ lower }) => isNegator(lower)).length
  // `ne … pas` is one denial
  const isDenied = denials > 0 && !(denials === 2 && language !== 'fr')
  const words: StatementWord[] = []
  const ends = new Map<number, StatedEnd>()
  for (const [index, token] of tokens.entries()) {
    // A modal verb counts as permission, unless the clause has its own word for it.
    if (MODALS.has(token.lower) && content[index] !== true && !ends.has(getPermissionScale()))
      ends.set(getPermissionScale(), {
        scale: getPermissionScale(),
        end: isDenied ? -1 : 1,
        shown: token.shown,
        isWeak: true,
      })
    if (taken[index] === true || (content[index] !== true && !/^\d/u.test(token.lower))) continue
    const stem = stemAt(token)
    const end = findScaleEnd(stem)
    if (end !== undefined && ends.get(end.scale)?.isWeak !== false)
      ends.set(end.scale, { ...end, end: isDenied ? invertEnd(end.end) : end.end, shown: token.shown, isWeak: false })
    const isVerbal = verbAt !== undefined && isVerbAt(tokens, index, verbAt, language)
    const isSubject = labelEnd === undefined ? verbAt !== undefined && index < verbAt : token.offset < labelEnd
    words.push({ stem, shown: token.shown, isName: isNameAt(tokens, index, language), isSubject, isVerbal, index })
  }
  const inLabel = new Set(words.flatMap(({ stem, isSubject }) => (isSubject ? [stem] : [])))
  const inValue = words.flatMap(({ stem, isSubject }) => (isSubject || inLabel.has(stem) ? [] : [stem]))
  return {
    sentence: quote,
    words,
    stems: new Set(words.map(({ stem }) => stem)),
    quantities,
    subjectQuantities: verbAt === undefined ? 0 : quantities.filter(({ index }) => index < verbAt).length,
    moments,
    ends,
    isDenied,
    value: labelEnd === undefined ? undefined : new Set(inValue),
    isStaged: STAGED.test(text),
    isHedged: CONDITION.test(text) || REPORTED.test(text),
    order: findTimeOrder(text),
    line: tokens.map((token, index) =>
      taken[index] === true ? '#' : content[index] === true ? stemAt(token) : token.lower,
    ),
  }
}

/** `HTTP` and `HTTPS` are two names. */
function stemAt({ shown, lower }: StatementToken): string {
  return /^\p{Lu}{2,}$/u.test(shown) ? lower : stemOf(lower)
}

/** Finds dates and marks their tokens. A bare year before a counted noun is a number. */
function findMoments(
  text: string,
  tokens: readonly StatementToken[],
  taken: boolean[],
  content: readonly boolean[],
): Moment[] {
  return findDates(text).flatMap((date) => {
    const within = tokens.flatMap(({ offset }, index) => (offset >= date.start && offset < date.end ? [index] : []))
    const [first = 0] = within
    const next = tokens[(within.at(-1) ?? 0) + 1]
    const isYearAlone = date.year !== undefined && date.month === undefined && date.quarter === undefined
    const isAfterWord = first > 0 && content[first - 1] !== true && /^\p{L}/u.test(tokens[first - 1]?.lower ?? '')
    const isCount =
      next !== undefined &&
      (findUnit(next.lower) !== undefined || (content[first + within.length] === true && !isAfterWord))
    if (isYearAlone && isCount) return []
    for (const index of within) taken[index] = true
    return [{ ...date, shown: text.slice(date.start, date.end).trim() }]
  })
}

/**
 * A number after a noun of the subject identifies one of its kind: `version 2 uses`, `since release 6.0 the editor`.
 */
function isIdentifier(
  tokens: readonly StatementToken[],
  content: readonly boolean[],
  index: number,
  verbAt = 0,
): boolean {
  const isNumber = /^\d{1,4}(?:\.\d+)*$/u.test(tokens[index]?.lower ?? '')
  return (
    isNumber && index < verbAt && content[index - 1] === true && findUnit(tokens[index + 1]?.lower ?? '') === undefined
  )
}

/** Index of the verb: an auxiliary, or else the content word before the first phrase that follows the subject. */
function findVerb(
  tokens: readonly StatementToken[],
  content: readonly boolean[],
  taken: readonly boolean[],
  language: Language,
): number | undefined {
  const auxiliaries = AUXILIARIES.get(language)
  const auxiliary = tokens.findIndex(({ lower }, index) => index > 0 && auxiliaries?.has(lower) === true)
  if (auxiliary > 0) return auxiliary
  const subject = content.indexOf(true)
  if (subject < 0) return undefined
  const end = tokens.findIndex(
    ({ lower }, index) =>
      index > subject + 1 &&
      content[index - 1] === true &&
      (taken[index] === true || (content[index] !== true && !GENITIVES.has(lower))),
  )
  // at the end of the clause the last word is the object
  const isObject =
    /^[.,;:)]$/u.test(tokens[end]?.lower ?? '') &&
    content[end - 2] === true &&
    end - 2 > subject &&
    !PARTICIPLE.test(tokens[end - 1]?.lower ?? '')
  return end < 0 ? undefined : end - (isObject ? 2 : 1)
}

function isVerbAt(tokens: readonly StatementToken[], index: number, verbAt: number, language: Language): boolean {
  if (index === verbAt) return true
  const { shown = '', lower = '' } = tokens[index] ?? {}
  if (language === 'de') return index > verbAt && /^\p{Ll}/u.test(shown)
  if (language === 'en' && index > verbAt && PARTICIPLE.test(lower)) return true
  // the participle after an auxiliary; at the end of the clause it is the value
  const isLast = /^(?:[.;)]|$)/u.test(tokens[index + 1]?.lower ?? '')
  return (
    AUXILIARIES.get(language)?.has(tokens[verbAt]?.lower ?? '') === true &&
    index === verbAt + 1 &&
    /^\p{Ll}/u.test(shown) &&
    !isLast
  )
}

function isNameAt(tokens: readonly StatementToken[], index: number, language: Language): boolean {
  const { shown = '' } = tokens[index] ?? {}
  if (/^\d/u.test(shown)) return true
  if (language === 'de' || !/^\p{Lu}/u.test(shown)) return false
  const isStart = index === 0 || /^[.:]$/u.test(tokens[index - 1]?.shown ?? '')
  return !isStart || /^\p{Lu}{2}/u.test(shown) || /^\p{Lu}\p{Ll}/u.test(tokens[index + 1]?.shown ?? '')
}

function invertEnd(end: 1 | -1): 1 | -1 {
  return end === 1 ? -1 : 1
}
