import { detectLanguageOfQuestion } from '../../../../lib/text/analyze.js'
import { answerType } from '../answer-type.js'
import { ANSWER_KIND_BY_TYPE, type AnswerKind, formatStatement, type StatementLanguage } from './expected-statements.js'
import { findFacets } from './facets.js'
import { splitQuestions } from './parts.js'
import { findRequestedKind } from './requested-kind.js'

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
