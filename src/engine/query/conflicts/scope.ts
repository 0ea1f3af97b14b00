/** What narrows a statement: for whom, where, when, of which version it holds. */
export interface Scope {
  /** category to what is said of it, sorted and joined */
  parts: ReadonlyMap<string, string>
  isOpinion: boolean
  isConditional: boolean
  /** it holds at a certain stage only */
  isStaged: boolean
  /** it speaks of what was */
  isPast: boolean
  /** it says that it takes the place of something */
  isNewer: boolean
}

const list = (text: string): string => text.trim().split(/\s+/u).join('|')

const REGIONS = list(`
africa african america american americas asia asian australia australian austria austrian belgium belgian brazil brazilian
britain british bulgaria canada canadian chile china chinese colombia croatia cyprus czech denmark danish egypt england
english estonia europe european eu finland finnish france french germany german greece greek hungary hungarian iceland
india indian indonesia iran iraq ireland irish israel italy italian japan japanese kenya korea korean latvia lithuania
luxembourg malaysia mexico mexican morocco netherlands dutch nigeria norway norwegian pakistan peru philippines poland
polish portugal portuguese romania russia russian scotland scottish serbia singapore slovakia slovenia spain spanish
sweden swedish switzerland swiss taiwan thailand tunisia turkey turkish ukraine uk us usa vietnam wales welsh
deutschland österreich schweiz frankreich italien spanien polen california texas florida ohio ontario quebec bavaria
`)
const PLANS = list(
  'free basic starter standard plus pro professional team business premium enterprise gold silver platinum bronze economy first second third trial guest junior senior',
)
const PLAN_NOUNS =
  'plans?|tiers?|accounts?|customers?|users?|subscriptions?|subscribers?|licen[cs]es?|members?|memberships?|packages?|class|rooms?|cards?|tickets?|support'

/** `the Trek 2 watch`, `Quill 3` */
const MODEL =
  /(?<=\p{L} )(?!(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec))(\p{Lu}\p{L}+) (\d{1,3})(?= \p{Ll})(?! (?:million|billion|thousand|percent|days?|hours?|months?|years?|weeks?|minutes?|metres?|euros?|mm|cm|km|kg))/gu
/** A category once on each side, and not the same, makes two facts of two statements. */
const CATEGORIES: readonly (readonly [string, RegExp])[] = [
  [
    'version',
    /\b(?:version|release|edition|revision|ver|v|model|series|generation|firmware|build|mark|ausgabe)\s?\.?\s?(\d[\w.]*)|\b(?:\p{L}+ )(\d+\.\d+(?:\.\d+)*)(?=[ ,](?!%|percent|million|billion|[a-z]{1,3}\b))|\b(?:the|der|die) (\d+(?:st|nd|rd|th)|first|second|third|fourth|fifth) (?:edition|generation|version|release)/giu,
  ],
  ['plan', new RegExp(`\\b(${PLANS})[- ](?=(?:${PLAN_NOUNS})\\b)|\\b(enterprise|premium|deluxe|freemium)\\b`, 'giu')],
  [
    'environment',
    /\b(production|staging|sandbox|pre-?production|(?:test|development|dev|qa|live)(?= (?:environment|server|system|cluster|instance|stage)s?)|produktion|testumgebung)\b/giu,
  ],
  [
    'audience',
    /\b(adults?|children|child|kids|infants?|toddlers?|seniors?|pensioners?|students?|pupils|trainees?|apprentices|beginners?|women|men|girls|boys|teenagers|pregnant|managers|contractors|freelancers|volunteers|tourists|non-?members|visitors|residents|minors|(?:under|over) \d{1,2}|kinder|erwachsene|studierende|rentner|cats?|dogs?|horses?|birds?)\b/giu,
  ],
  [
    'age',
    /\b((?:under|over|aged|below|above|unter|über) \d{1,2})(?! ?(?:%|[a-z]{1,2}\b|per|euro|days|hours|minutes|months|weeks|metres|meters|people|degrees))\b/giu,
  ],
  ['extent', /\b(in all|in total|altogether|overall|cumulatively|insgesamt|first (?:day|week|month|year))\b/giu],
  ['platform', /\b(ios|android|windows|linux|macos|mac|desktop|mobile|web|browser|tablet|phone)\b/giu],
  [
    'time of use',
    /\b(weekdays?|weekends?|public holidays?|holidays|summer|winter|spring|autumn|night|nights|daytime|peak|off-?peak|high season|low season|morning|mornings|afternoons?|evenings?|sommer|winter|wochenende|werktags)\b/giu,
  ],
  ['region', new RegExp(`\\b(${REGIONS})\\b`, 'giu')],
  [
    'which one',
    /\b(indoor|outdoor|upper|lower|inner|outer|left|right|front|rear|northern|southern|eastern|western|north|south|east|west|main|secondary|first|second|third|fourth|last|internal|external|national|international|local|remote|inbound|outbound|incoming|outgoing|private|public|digital|printed|manual|automatic|small|large|short|long|daily|weekly|monthly|annual|nightly|used|morning|evening|minimum|maximum|average|median|gross|net|male|female|men's|women's)\b(?= \p{L})/giu,
  ],
]

const OPINION =
  /\b(?:believes?|believed|thinks?|thought|claims?|claimed|argues?|argued|alleges?|alleged|allegedly|reportedly|supposedly|critics|sceptics|skeptics|opponents|proponents|rumou?rs?|legend|myth|in (?:his|her|their|my|our) (?:view|opinion)|opinion|feels? that|doubts?|hopes?|fears?|suspects?|speculat\w+|glaub\w+|meint|meinen|behaupte\w+|angeblich|kritiker)\b|["“”][^"“”]{8,}["“”],? (?:said|says|wrote|told)|\b(?:said|says|wrote)\b[^"“]{0,30}["“]/iu
const CONDITIONAL =
  /\b(?:if|unless|would|could(?! not)|might|proposals?|proposed|proposes|plans? to|planned|draft|suppose|assuming|provided that|in case|only when|expected to|forecast|projected|target is|aims? to|except|wenn|falls|sofern|würde|vorschlag|geplant|außer)\b/iu
const STAGED = /\b(?:after|once|when|while|during|before|outside|without|only|beyond|nach|während|sobald)\b/iu
const PAST =
  /\b(?:previously|formerly|former|used to|originally|initially|at first|in the past|at that time|back then|old (?:rules?|policy|policies|version|price|rate|limit|contract|system|plan|handbook|tariff)|until(?= (?:\w+ )?\d{4}| (?:it|he|she|they|its|being)\b)|before(?= (?:\w+ )?\d{4})|up to(?= \d{4}\b(?!\s*\w+s\b))|prior to|in earlier|earlier|obsolete|deprecated|früher\w*|ehemals|zuvor|bis(?= (?:\w+ )?\d{4})|damals|alte[rnsm]?)\b/iu
const NEWER =
  /\b(?:supersedes?|superseded|replaces|replaced by|new(?:er)? (?:policy|rules?|version|limit|price|rate|handbook|plan|tariff|contract terms)|as of|now|nowadays|since(?= (?:version|release|v\d|\p{Lu}|\d))|starting (?:in|from|on)|with effect from|effective (?:from|as of)|from (?:\w+ )?\d{4} (?:on|onwards)|updated|amended|revised|changed (?:from|to)|(?:raised|increased|lowered|reduced|extended|cut|shortened) (?:from \S+ )?to|has since|neuerdings|jetzt|inzwischen|ab(?= (?:\w+ )?\d{4})|ersetzt|stand)\b/iu

export function scopeOf(text: string): Scope {
  const parts = new Map<string, string>()
  for (const [category, pattern] of CATEGORIES) {
    const said = new Set<string>()
    for (const match of text.matchAll(pattern)) {
      const word = match.slice(1).find((group) => group !== undefined)
      // `us` is a pronoun
      if (word !== undefined && word !== 'us')
        said.add(
          word
            .toLowerCase()
            .replace(' ', '-')
            .replace(/(?<=\p{L}{3})s$/u, ''),
        )
    }
    if (category === 'version')
      for (const [, , number] of text.matchAll(MODEL)) if (number !== undefined) said.add(number)
    if (said.size > 0) parts.set(category, [...said].sort().join(' '))
  }
  return {
    parts,
    isOpinion: OPINION.test(text),
    isConditional: CONDITIONAL.test(text),
    isStaged: STAGED.test(text),
    isPast: PAST.test(text),
    isNewer: NEWER.test(text),
  }
}

/** On one side alone these already narrow a statement. */
const NARROWING = new Set(['age', 'extent', 'plan', 'version', 'environment', 'time of use', 'platform'])

/** What may itself be what two statements disagree in. */
const DISPUTED = new Set(['region', 'which one', 'audience'])

export interface OtherFact {
  /** `newer`: one takes the place of the other */
  kind: 'newer' | 'other'
  reason: string
}

/**
 * Why two statements are about different things; undefined where nothing says so.
 *
 * @param isAsked whether the question names a word: what it asks about narrows neither
 * @param isValue whether a word is what the two disagree in
 */
export function otherScope(
  one: Scope,
  two: Scope,
  isAsked: (word: string) => boolean,
  isValue: (word: string) => boolean,
): OtherFact | undefined {
  if (one.isOpinion || two.isOpinion) return { kind: 'other', reason: 'an opinion' }
  if (one.isConditional !== two.isConditional) return { kind: 'other', reason: 'under a condition' }
  if (one.isPast !== two.isPast) return { kind: 'newer', reason: 'of an earlier time' }
  if (one.isNewer !== two.isNewer) return { kind: 'newer', reason: 'takes the place of the other' }
  for (const [category] of CATEGORIES) {
    const leavesOut = DISPUTED.has(category) ? isValue : (): boolean => false
    const a = words(one.parts.get(category), leavesOut)
    const b = words(two.parts.get(category), leavesOut)
    if (a.length === 0 && b.length === 0) continue
    if (a.length > 0 && b.length > 0) {
      if (a.some((word) => b.includes(word))) continue
      return {
        kind: category === 'version' ? 'newer' : 'other',
        reason: `another ${category}: ${a.join(', ')}, ${b.join(', ')}`,
      }
    }
    if (NARROWING.has(category) && ![...a, ...b].some(isAsked))
      return { kind: 'other', reason: `one speaks of ${[...a, ...b].join(', ')} alone` }
  }
  return undefined
}

function words(said: string | undefined, isValue: (word: string) => boolean): string[] {
  return (said ?? '').split(' ').filter((word) => word !== '' && !isValue(word))
}
