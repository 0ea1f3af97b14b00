import { answerType } from '../query/answer-type.js'
import { kindAskedFor } from './asked-kind.js'
import { type Facet, facetsOf } from './facets.js'
import { partsOf } from './parts.js'

/** What would answer a question, said for a person who could write it or add a document. */
export interface ExpectedEvidence {
  /** a sentence fragment such as `a statement of the price: parking at the Basel office` */
  text: string
  /** what the question is about, in its own words */
  subject: string
  /** kind of thing that is asked for; absent where the question does not tell */
  kind?: string
}

/** How a text that answers is called, by what is wanted. */
const STATEMENTS: Record<Facet, string> = {
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
  permission: 'a rule that says whether it is allowed or so',
  role: 'a description of what it does',
  measure: 'a statement of the figure',
  effect: 'a description of the effects',
}
const CONTACT = 'a phone number or an e-mail address'
const DEFINITION = 'a definition or description'
const ANYTHING = 'a text'

/** What opens an English question and says nothing of its subject, longest first. */
const OPENINGS =
  /^\s*(?:(?:please|hello|hi)[,!]?\s+)*(?:(?:can|could) you (?:tell|explain to) me\s+|(?:do you know|i (?:would like|want|need) to know|tell me)\s+)?(?:how (?:much|many|long|often|far|tall|high|large|big|old|fast|deep|heavy|hot|thick|expensive)|at (?:what|which)(?: time| place| temperature)?|in (?:what|which)(?: year| month| city| town| country| place)?|to (?:what|which|whom)|for (?:what|which|how long)|by (?:when|whom|what)|until (?:when|what time)|from (?:what|when|where)|who(?:m|se)?|when|where|why|how|what(?: time| year| date| day| month)?|which(?: year| date| day| month| person| people)?)\b\s*/iu
const AUXILIARY =
  /^(?:is|are|was|were|am|be|do|does|did|can|could|may|might|must|should|shall|will|would|has|have|had)\b\s*(?:there\b\s*)?(?:(?:i|we|you|one|it)\b\s*)?(?:(?:the|a|an)\s+(?=(?:price|cost|fee|number|amount|date|name|reason|location|address|duration|length)\s+(?:of|for|to)\b))?/iu
/** `price of`, `steps for`: the statement says it already. */
const WANTED =
  /^(?:the\s+)?(?:price|cost|fee|number|amount|date|time|year|day|name|reason|location|place|address|duration|length|steps?|procedure|process|phone number|telephone number|e-?mail(?: address)?)\s+(?:of|for|to|at which|in which)\s+/iu
const LONGEST_SUBJECT = 160

/**
 * What would answer a question: the kind of thing that it asks for and what it asks it of, for the entry of missing
 * evidence. Of several questions in one, each has its own.
 */
export function expectedEvidence(query: string): ExpectedEvidence[] {
  return partsOf(query).map((part) => {
    const subject = subjectOf(part)
    const kind = kindOf(part)
    const statement = statementOf(part, kind)
    return { text: subject === '' ? statement : `${statement}: ${subject}`, subject, ...(kind === '' ? {} : { kind }) }
  })
}

function kindOf(question: string): string {
  if (kindAskedFor(question) === 'contact') return 'contact'
  const [facet] = facetsOf(question)
  if (facet !== undefined) return facet
  const type = answerType(question)
  return type === 'any' ? '' : type
}

function statementOf(question: string, kind: string): string {
  if (kind === 'contact') return CONTACT
  if (kind === 'definition') return DEFINITION
  const [facet] = facetsOf(question)
  return facet === undefined ? ANYTHING : STATEMENTS[facet]
}

/** The question without what makes it one, in its own words; of a language without openings known here, the whole. */
function subjectOf(question: string): string {
  const plain = question.replace(/(?:\s+(?:are|is) there)?[\s?？!.。]+$/iu, '').trim()
  const opened = plain.replace(OPENINGS, '')
  const subject = opened.replace(AUXILIARY, '').replace(WANTED, '').trim()
  const shortest = subject === '' ? plain : subject
  return shortest.length <= LONGEST_SUBJECT ? shortest : `${shortest.slice(0, LONGEST_SUBJECT).trimEnd()}…`
}
