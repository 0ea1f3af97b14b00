import type { MissingEvidence } from '../../../../contract/gateway/queries.js'
import { omitUndefined } from '../../../../lib/omit-undefined.js'
import { analyzeQuery, detectLanguageOfQuestion } from '../../../../lib/text/analyze.js'
import { type AnswerType, answerType } from './answer-type.js'
import { type Facet, findFacets } from './facets.js'
import { findRequestedKind } from './requested-kind.js'
import { parseQuestionWords } from './words.js'

/** Maximum words of the question that the text of an empty result repeats. */
const MAX_SHOWN_WORDS = 12
/** Maximum characters of the question from which these words are taken. */
const MAX_READ_CHARACTERS = 1000

/**
 * Describes what would answer a question that the passages do not answer completely: one entry for each question in it.
 *
 * @param uncovered words of the question that no passage contains
 */
export function describeMissingEvidence(query: string, uncovered: readonly string[] = []): MissingEvidence[] {
  const entries = describeExpectedEvidence(query).map(({ text, subject, kind }): MissingEvidence => {
    const metadata = { terms: [...uncovered], subject, ...omitUndefined({ kind }) }
    return { reason: 'not-retrieved', text, metadata }
  })
  return [...new Map(entries.map((entry) => [entry.text, entry])).values()]
}

/** States that nothing was found, and the words that were searched for: documents may use other words. */
export function formatNothingFound(query: string): string {
  const beginning = query.slice(0, MAX_READ_CHARACTERS)
  const words = parseQuestionWords(beginning)(new Set(analyzeQuery(beginning)))
  if (words.length === 0) return 'Nothing was found for this question.'
  const shown = words.slice(0, MAX_SHOWN_WORDS).join(' ')
  return `Nothing was found for “${shown}${words.length > MAX_SHOWN_WORDS ? ' …' : ''}”.`
}

/** A text that would answer a question, described for a person who could write it or add a document. */
export interface ExpectedEvidence {
  /** a sentence fragment such as `a statement of the price: parking at the Basel office` */
  text: string
  /** what the question is about, in its own words */
  subject: string
  /** kind of answer; absent when the question does not show it */
  kind?: Exclude<AnswerKind, 'any'>
}

/** A query with more questions was pasted from elsewhere. */
const MAX_QUESTIONS = 5
/** Expected evidence of a question without a subject. */
const NO_SUBJECT_TEXT = 'a text'
const COLON: Readonly<Record<StatementLanguage, string>> = { en: ': ', de: ': ', fr: ' : ', es: ': ', zh: '：' }

/** Openings of English questions that are not part of the subject, longest first. */
const OPENINGS =
  /^\s*(?:(?:please|hello|hi)[,!]?\s+)*(?:(?:can|could) you (?:tell|explain to) me\s+|(?:do you know|i (?:would like|want|need) to know|tell me)\s+)?(?:how (?:much|many|long|often|far|tall|high|large|big|old|fast|deep|heavy|hot|thick|expensive)|at (?:what|which)(?: time| place| temperature)?|in (?:what|which)(?: year| month| city| town| country| place)?|to (?:what|which|whom)|for (?:what|which|how long)|by (?:when|whom|what)|until (?:when|what time)|from (?:what|when|where)|who(?:m|se)?|when|where|why|how|what(?: time| year| date| day| month)?|which(?: year| date| day| month| person| people)?)\b\s*/iu
const AUXILIARY =
  /^(?:is|are|was|were|am|be|do|does|did|can|could|may|might|must|should|shall|will|would|has|have|had)\b\s*(?:there\b\s*)?(?:(?:i|we|you|one|it)\b\s*)?(?:(?:the|a|an)\s+(?=(?:price|cost|fee|number|amount|date|name|reason|location|address|duration|length)\s+(?:of|for|to)\b))?/iu
/** `price of`, `steps for`: the statement already contains it. */
const KIND_PREFIX =
  /^(?:the\s+)?(?:price|cost|fee|number|amount|date|time|year|day|name|reason|location|place|address|duration|length|steps?|procedure|process|phone number|telephone number|e-?mail(?: address)?)\s+(?:of|for|to|at which|in which)\s+/iu
const MAX_SUBJECT_LENGTH = 160

/**
 * Describes what would answer a question, for the entry of missing evidence: the kind of answer and its subject. The
 * text is in the question's language if that is English, German, French, Spanish or Chinese, otherwise in English. A
 * query of several questions has one entry for each.
 */
export function describeExpectedEvidence(query: string): ExpectedEvidence[] {
  const language = getStatementLanguage(query)
  return splitQuestions(query)
    .slice(0, MAX_QUESTIONS)
    .map((part) => {
      const kind = findAnswerKind(part, language)
      const subject = extractSubject(part, language)
      const text = subject === '' ? NO_SUBJECT_TEXT : `${formatStatement(kind, language)}${COLON[language]}${subject}`
      return { text, subject, ...(kind === 'any' ? {} : { kind }) }
    })
}

function getStatementLanguage(query: string): StatementLanguage {
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(query)) return 'en'
  if (/\p{Script=Han}/u.test(query)) return 'zh'
  const language = detectLanguageOfQuestion(query)
  return language === 'de' || language === 'fr' || language === 'es' ? language : 'en'
}

function findAnswerKind(question: string, language: StatementLanguage): AnswerKind {
  const byType = ANSWER_KIND_BY_TYPE[answerType(question)]
  if (language !== 'en') return byType
  if (findRequestedKind(question) === 'contact') return 'contact'
  const [facet] = findFacets(question)
  return facet ?? byType
}

/**
 * Subject of a question: its text without the question words. In languages other than English, the complete question.
 */
function extractSubject(question: string, language: StatementLanguage): string {
  const plain = question
    .replace(/^[\s¿¡]+/u, '')
    .replace(/(?:\s+(?:are|is) there)?[\s?？!.。]+$/iu, '')
    .trim()
  if (language !== 'en') return truncateSubject(plain)
  const opened = plain.replace(OPENINGS, '')
  const subject = opened.replace(AUXILIARY, '').replace(KIND_PREFIX, '').trim()
  return truncateSubject(subject === '' ? plain : subject)
}

function truncateSubject(text: string): string {
  return text.length <= MAX_SUBJECT_LENGTH ? text : `${text.slice(0, MAX_SUBJECT_LENGTH).trimEnd()}…`
}

/** Boundary between two questions: a question mark, or a conjunction before a question word. */
const BOUNDARY =
  /[?？]\s*|[,;]?\s+(?:and|or)\s+(?=(?:what|which|who|whom|whose|when|where|why|how|is|are|do|does|did|can|until)\b)/iu
const MIN_PART_LENGTH = 8

/** Splits a query into its questions, in order; a single question is returned unchanged. */
export function splitQuestions(query: string): string[] {
  const parts = query
    .split(BOUNDARY)
    .map((part) => part.trim())
    .filter((part) => part.length >= MIN_PART_LENGTH)
  return parts.length < 2 ? [query] : parts
}

/** Kind of answer that a question asks for. */
export type AnswerKind = Facet | 'contact' | 'definition' | 'share' | 'name' | 'truth' | 'any'

/** Languages in which expected evidence is described: those that `answerType` understands. */
export type StatementLanguage = 'en' | 'de' | 'fr' | 'es' | 'zh'

/** Kind of answer by the answer type, which is known in every language. */
export const ANSWER_KIND_BY_TYPE: Readonly<Record<AnswerType, AnswerKind>> = {
  person: 'person',
  time: 'time',
  money: 'price',
  percent: 'share',
  duration: 'duration',
  number: 'count',
  place: 'place',
  reason: 'reason',
  definition: 'definition',
  name: 'name',
  truth: 'truth',
  any: 'any',
}

const ENGLISH_STATEMENTS: Readonly<Record<AnswerKind, string>> = {
  price: 'a statement of the price or cost',
  count: 'a statement of the number or amount',
  length: 'a statement of the length',
  duration: 'a statement of how long it takes or lasts',
  frequency: 'a statement of how often it happens',
  time: 'a text that states a date or time',
  place: 'a text that names the place',
  person: 'a text that names the person or organisation',
  method: 'a description of the steps',
  reason: 'an explanation of the reason',
  permission: 'a text that states whether it is allowed or true',
  role: 'a description of what it does',
  measure: 'a statement of the figure',
  effect: 'a description of the effects',
  contact: 'a phone number or an e-mail address',
  definition: 'a definition or description',
  share: 'a statement of the share',
  name: 'a text that names it',
  truth: 'a text that states whether it is true',
  any: 'a text about this',
}

/** Other languages have texts for the kinds that are recognized in their questions. */
const OTHER_STATEMENTS: Readonly<
  Record<Exclude<StatementLanguage, 'en'>, Partial<Record<AnswerKind, string>> & { any: string }>
> = {
  de: {
    price: 'eine Angabe des Preises oder der Kosten',
    count: 'eine Angabe der Zahl oder Menge',
    share: 'eine Angabe des Anteils',
    duration: 'eine Angabe der Dauer',
    time: 'ein Text, der Datum oder Zeit nennt',
    place: 'ein Text, der den Ort nennt',
    person: 'ein Text, der die Person oder Organisation nennt',
    reason: 'eine Erklärung des Grundes',
    definition: 'eine Definition oder Beschreibung',
    name: 'ein Text, der den Namen nennt',
    truth: 'ein Text, der sagt, ob es so ist',
    any: 'ein Text darüber',
  },
  fr: {
    price: 'une indication du prix ou du coût',
    count: 'une indication du nombre ou de la quantité',
    share: 'une indication de la part',
    duration: 'une indication de la durée',
    time: 'un texte qui donne une date ou une heure',
    place: 'un texte qui nomme le lieu',
    person: "un texte qui nomme la personne ou l'organisation",
    reason: 'une explication de la raison',
    definition: 'une définition ou une description',
    name: 'un texte qui donne le nom',
    truth: "un texte qui dit s'il en est ainsi",
    any: 'un texte à ce sujet',
  },
  es: {
    price: 'una indicación del precio o del coste',
    count: 'una indicación del número o de la cantidad',
    share: 'una indicación de la proporción',
    duration: 'una indicación de la duración',
    time: 'un texto que indique una fecha o una hora',
    place: 'un texto que nombre el lugar',
    person: 'un texto que nombre a la persona o la organización',
    reason: 'una explicación del motivo',
    definition: 'una definición o una descripción',
    name: 'un texto que dé el nombre',
    truth: 'un texto que diga si es así',
    any: 'un texto sobre ello',
  },
  zh: {
    price: '说明价格或费用的文字',
    count: '说明数量的文字',
    share: '说明所占比例的文字',
    duration: '说明时长的文字',
    time: '说明日期或时间的文字',
    place: '指出地点的文字',
    person: '指出人物或机构的文字',
    reason: '解释原因的文字',
    definition: '定义或描述',
    name: '给出名称的文字',
    truth: '说明是否如此的文字',
    any: '有关的文字',
  },
}

/** Describes a text that answers, as a sentence fragment in a language. */
export function formatStatement(kind: AnswerKind, language: StatementLanguage): string {
  if (language === 'en') return ENGLISH_STATEMENTS[kind]
  const statements = OTHER_STATEMENTS[language]
  return statements[kind] ?? statements.any
}
