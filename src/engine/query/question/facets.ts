/** What a question wants to know of its subject. */
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

/** Questions that begin so ask this; where several match, the first that is there counts. */
const PATTERNS: readonly (readonly [readonly Facet[], RegExp])[] = [
  [['time', 'duration'], /\bhow (?:many days|long) do (?:i|we|you) have\b/iu],
  [['frequency'], /\bhow (?:often|frequently)\b|\bafter how many\b|\bintervals?\b|\bhow many times\b/iu],
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

/** What a question may want to know; nothing where its words do not tell. */
export function facetsOf(question: string): readonly Facet[] {
  return PATTERNS.find(([, pattern]) => pattern.test(question))?.[0] ?? []
}

/** Whether two questions can want to know the same: what is not told is compatible with all. */
export function facetsAgree(one: readonly Facet[], other: readonly Facet[]): boolean {
  return one.length === 0 || other.length === 0 || one.some((facet) => other.includes(facet))
}
