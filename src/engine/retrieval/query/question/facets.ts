import { type AnswerType, answerType } from './answer-type.js'

/** Property of its subject that a question asks for. */
export type Facet =
  | 'price'
  | 'count'
  | 'length'
  | 'duration'
  | 'frequency'
  | 'time'
  | 'place'
  | 'person'
  | 'method'
  | 'reason'
  | 'permission'
  | 'role'
  | 'measure'
  | 'effect'

/** Patterns of questions and the facets that they ask for; the first match counts. */
const PATTERNS: readonly (readonly [readonly Facet[], RegExp])[] = [
  [['time', 'duration'], /\bhow (?:many days|long) do (?:i|we|you) have\b/iu],
  [['frequency'], /\bhow (?:often|frequently)\b|\b(?:after|every) how many\b|\bintervals?\b|\bhow many times\b/iu],
  [['measure'], /\bhow much (?:does|do|did) .{1,60}\bweigh\b|\bmass of\b/iu],
  // `By whom are fees set?` does not ask for a price
  [
    ['person'],
    /\b(?:by|to|from) whom\b|\b(?:which|what) (?:person|colleague)\b|\bin charge of\b|^(?:please )?(?:name|tell me) (?:the|which) (?:person|people)\b/iu,
  ],
  [['time', 'frequency', 'duration'], /\bhow much time is left\b|\b(?:run|runs) out\b|\bdeadlines?\b/iu],
  [
    ['price'],
    /\bhow (?:much|expensive)\b.*\b(?:cost|pay|price|charge|fee|fine|is|are)\b|\b(?:prices?|costs?|fees?|fares?|fines?|tariffs?|charges?|budget)\b(?! (?:reimburse|centre|center))|\bhow expensive\b|\bpay\b.*\beach\b/iu,
  ],
  [['count', 'price'], /\bhow much\b/iu],
  [
    ['duration'],
    /\bhow many (?:minutes|hours|days|weeks|months|years)\b|\bfor how (?:long|many)\b|\bduration\b|\b(?:journey|retention|travel) (?:time|period)\b|\bhow long does\b.*\btake\b/iu,
  ],
  [
    ['length', 'count'],
    /\bhow many (?:metres|meters|kilometres|kilometers|miles|feet|characters|letters)\b|\blength\b/iu,
  ],
  [['duration', 'length'], /\bhow long\b/iu],
  [['count'], /\bhow many\b|\b(?:number|amount|quantity) of\b|\bmaximum number\b/iu],
  [
    ['method'],
    /\bhow (?:do|can|could|should|must|to|would) (?:i|we|you|one|people|staff|somebody)?\b|\bsteps?\b|\bprocedure\b|\bprocess\b|\bwhat (?:must|should|do|can) (?:i|we|you|one)\b.*\bdo\b|\bwhat do (?:i|we) have to do\b|\bhow to\b/iu,
  ],
  [
    ['measure'],
    /\bhow (?:hot|cold|warm|high|tall|wide|deep|heavy|thick|fast|strong|big|large|old|far)\b|\b(?:temperatures?|pressures?|weight|height|width|depth|thickness|speed|strength|size|capacity|output|voltage|power)\b/iu,
  ],
  [['reason'], /\bwhy\b|\breasons?\b|\bcauses?\b|\bwhat makes\b|\bhow come\b/iu],
  [
    ['person'],
    /\bwho\b|\bwhom\b|\bwhose\b|\b(?:what|which) (?:person|people|company|man|woman|architect|author|team)\b|\b(?:designer|builder|manufacturer|director|author|founder|inventor|owner|responsible|contact)\b/iu,
  ],
  [
    ['place'],
    /\bwhere\b|\blocations?\b|\baddress\b|\b(?:what|which|in which|at what) (?:place|location|city|town|country|part|site|car park)\b/iu,
  ],
  [
    ['time', 'frequency'],
    /\bwhen\b|\b(?:what|which) (?:time|year|date|day|month)\b|\b(?:until|by|from) (?:what|which|when)\b|\bdeadlines?\b|\bdates?\b|\bhours\b|\btimes?\b|\byear of\b/iu,
  ],
  [['effect'], /\b(?:effects?|reactions?|consequences?|results?|impacts?|symptoms?|advantages?|drawbacks?|risks?)\b/iu],
  [['permission'], /^\s*(?:can|may|is|are|am|do|does|could|must)\b|\ballowed\b|\bpossible\b|\bpermitted\b/iu],
  [['role'], /\bfunctions?\b|\broles?\b|\bwhat does\b.*\bdo\b|\bpurpose\b/iu],
]

/** Finds the facets that a question may ask for; none when its words do not show it. */
export function findFacets(question: string): readonly Facet[] {
  const english = PATTERNS.find(([, pattern]) => pattern.test(question))?.[0]
  if (english !== undefined) return english
  const byAnswerType = FACETS_BY_ANSWER_TYPE[answerType(question)]
  return byAnswerType.length > 0 ? byAnswerType : (KEYWORDS.find(([, pattern]) => pattern.test(question))?.[0] ?? [])
}

/** Facets by keywords of other languages: German, French, Spanish, Chinese and Japanese. */
const KEYWORDS: readonly (readonly [readonly Facet[], RegExp])[] = [
  [
    ['price', 'count'],
    /\p{L}*(?:preise?|kosten|gebühr(?:en)?|tarife?|miete)(?!\p{L})|(?<!\p{L})(?:prix|tarifs?|coûts?|frais|precios?|tarifas?|costes?|cuotas?)(?!\p{L})|费用|費用|价格|價格|价钱|[年月会]费|料金|値段|いくら/iu,
  ],
  [
    ['count', 'price'],
    /(?<!\p{L})(?:anzahl|betrag|höhe|nombre|montant|número|cantidad|importe)(?!\p{L})|数量|人数|何[冊人個枚回]|冊数|上限/iu,
  ],
  [
    ['duration', 'length', 'time'],
    /\p{L}*(?:dauer|frist)(?!\p{L})|(?<!\p{L})(?:durée|délai|duración|plazo)(?!\p{L})|期限|时长|時長|期間|どのくらい|何[日週年]間/iu,
  ],
  [
    ['time', 'frequency'],
    /\p{L}*(?:zeit(?:en)?|datum|termin|zeitpunkt|saison)(?!\p{L})|(?<!\p{L})(?:horaires?|dates?|heures?|horarios?|fechas?|horas?)(?!\p{L})|时间|時間|日期|[几幾]点|何時|いつ/iu,
  ],
  [
    ['person'],
    /\p{L}*(?:(?<!an)leitung|leiter(?:in)?|verantwortliche[rn]?|zuständige[rn]?|ansprechpartner(?:in)?)(?!\p{L})|(?<!\p{L})(?:responsable|fondateur|directeur|directrice|fundador|director|directora)(?!\p{L})|负责人|責任者|担当/iu,
  ],
  [['place'], /(?<!\p{L})(?:ort|standort|adresse|lieu|lugar|dirección|ubicación)(?!\p{L})|地[点點址]|位置|場所|どこ/iu],
  [
    ['method'],
    /(?<!\p{L})(?:wie|comment|cómo|anleitung|schritte|étapes|pasos)(?!\p{L})|怎[么麼样樣]|如何|方法|手[续続續]き?|どう/iu,
  ],
  [
    ['permission'],
    /(?<!\p{L})(?:erlaubt|gestattet|verboten|autorisé\w*|permis\w*|interdit\w*|permitid[oa]s?|prohibid[oa]s?|peut-on|puis-je|se puede)(?!\p{L})|允许|允許|可以|禁止|できますか|いいですか/iu,
  ],
  [['reason'], /(?<!\p{L})(?:grund|gründe|ursache|raison|cause|motivo|causa)(?!\p{L})|原因|理由|なぜ/iu],
]

/** Facets of questions in other languages, by the kind of answer. */
const FACETS_BY_ANSWER_TYPE: Record<AnswerType, readonly Facet[]> = {
  person: ['person'],
  time: ['time', 'frequency'],
  money: ['price', 'count'],
  percent: ['count'],
  duration: ['duration', 'length', 'time'],
  number: ['count', 'price', 'measure', 'length'],
  place: ['place'],
  reason: ['reason'],
  truth: ['permission'],
  definition: [],
  name: [],
  any: [],
}

/** Whether two questions may ask for the same facet; a question with unknown facets is compatible with all. */
export function doFacetsAgree(one: readonly Facet[], other: readonly Facet[]): boolean {
  return one.length === 0 || other.length === 0 || one.some((facet) => other.includes(facet))
}
