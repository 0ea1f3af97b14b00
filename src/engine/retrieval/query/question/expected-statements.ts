import type { AnswerType } from '../answer-type.js'
import type { Facet } from './facets.js'

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
