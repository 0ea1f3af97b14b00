/** What kind of thing a question asks for, told from its words; only for English and Chinese, else `any`. */
export type AnswerType = 'person' | 'time' | 'number' | 'place' | 'definition' | 'any'

const PATTERNS: readonly (readonly [AnswerType, RegExp])[] = [
  [
    'number',
    /\bhow (?:many|much|long|far|tall|high|large|big|old|fast|deep|often)\b|\bwhat (?:percent|percentage|number|amount)\b|多少|几[个個名人次年天种種岁歲座部位届屆]|多[大高长長远遠久]/iu,
  ],
  [
    'time',
    /\bwhen\b|\b(?:what|which|in what|in which) (?:year|date|day|month|century|decade)\b|哪一?年|何时|何時|什么时候|什麼時候|哪[天日月]/iu,
  ],
  ['person', /\bwho(?:m|se)?\b|\bwhat is the name of the (?:person|man|woman)\b|谁|誰|哪[位些]?人/iu],
  [
    'place',
    /\bwhere\b|\b(?:what|which) (?:city|country|state|place|region|town|continent|river|county|province)\b|哪里|哪裡|哪儿|何处|何處|什么地方|什麼地方|位于哪|位於哪/iu,
  ],
  ['definition', /^\s*what (?:is|are|was|were) (?:a |an |the )?[\p{L}\s-]{2,40}\??\s*$|是什么|是什麼|什么是|什麼是/iu],
]

/** Kind of answer a question wants. */
export function answerType(query: string): AnswerType {
  return PATTERNS.find(([, pattern]) => pattern.test(query))?.[0] ?? 'any'
}

const MONTH =
  /\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b|\b(?:1\d|20)\d\ds?\b|\b\d{1,2}(?:st|nd|rd|th) century\b|\d+\s*[年月日世]/giu
const NUMBER =
  /\d+(?:[.,]\d+)*|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|twenty|thirty|forty|fifty|hundred|thousand|million|billion|half|third|quarter)\b|[一二三四五六七八九十百千万萬亿億两兩]+(?=[个個名人次年天种種岁歲座部位届屆米公里元%])/giu
/** A capitalised word that does not merely begin the sentence. */
const NAME = /(?<=[\p{Ll}\p{N},;:)”"'’]\s+(?:["“(]\s*)?)\p{Lu}[\p{L}'’.-]+/gu
const PLACED =
  /\b(?:in|at|near|from|to|of|between|along|into|across)\s+(?:the\s+)?\p{Lu}\p{L}+|[在于於][\p{Script=Han}]{2,}/gu

const FOUND: Record<AnswerType, RegExp | undefined> = {
  person: NAME,
  time: MONTH,
  number: NUMBER,
  place: PLACED,
  definition: /\b(?:is|are|was|were|means|refers to|defined as|known as)\b|是|指/u,
  any: undefined,
}

/** Whether a sentence holds something of the kind asked for that the question does not already name. */
export function holdsAnswerOf(type: AnswerType, sentence: string, query: string): boolean {
  const pattern = FOUND[type]
  if (pattern === undefined) return false
  if (!pattern.global) return pattern.test(sentence)
  const asked = query.toLowerCase()
  return (sentence.match(pattern) ?? []).some((found) => !asked.includes(found.toLowerCase()))
}
