export const ENTITY_TYPES = ['date', 'metric', 'organization', 'person', 'policy', 'product', 'term'] as const
export type EntityType = (typeof ENTITY_TYPES)[number]

export interface FoundEntity {
  name: string
  type: EntityType
  /** what two spellings of one thing share */
  canonicalKey: string
  /** 0 to 1: how sure the rule is that found it */
  confidence: number
  /** UTF-16 place in the text */
  at: number
}

/** Longer "names" are headings in capitals or lists. */
const MAX_NAME = 120
const MAX_WORDS = 6

// Spaces only: a name does not go on in the next line. A word is bounded by what cannot stand in one, so a run is read once.
const WORD = "\\p{Lu}[\\p{L}\\p{N}'’&-]*"
const NAME = new RegExp(
  `(?<![\\p{L}\\p{N}])${WORD}(?:[ \\u00a0]+(?:(?:of|de|von|van|der|für|du|&)[ \\u00a0]+)?(?:${WORD}|\\d{1,4}[A-Z]?(?![\\p{L}\\p{N}])))*`,
  'gu',
)
const QUOTED = /[“"„«「『《]([\p{L}\p{N}][^“”"„«»「」『』《》\n]{1,60})[”"“»」』》]/gu
const MONTHS = ['january', 'february', 'march', 'april', 'may', 'june', 'july', 'august', 'september', 'october']
const ALL_MONTHS = [...MONTHS, 'november', 'december']
const MONTH = `(${ALL_MONTHS.join('|')})`
const DATES: readonly (readonly [RegExp, (found: RegExpMatchArray) => string])[] = [
  [/\b(\d{4})-(\d{2})-(\d{2})\b/gu, ([, year, month, day]) => `${year}-${month}-${day}`],
  [new RegExp(`\\b${MONTH} (\\d{1,2}),? (\\d{4})\\b`, 'giu'), ([, month, day, year]) => dateKey(year, month, day)],
  [new RegExp(`\\b(\\d{1,2})\\.? ${MONTH} (\\d{4})\\b`, 'giu'), ([, day, month, year]) => dateKey(year, month, day)],
  [/\b(?:FY|fiscal(?: year)?) ?((?:19|20)\d\d)\b/giu, ([, year]) => `fy ${year}`],
  [/\bQ([1-4]) (?:FY ?)?((?:19|20)\d\d)\b/giu, ([, quarter, year]) => `${year} q${quarter}`],
]
const METRIC =
  /\b((?!(?:the|our|its|their|this|that|and|for|with|of|in|a|an|other|such|any|all|total)\b)[a-z]+(?: (?:tax|cash|sales|income|operating))? (?:margin|ratio|revenues?|income|earnings|cash flow|expenses?|turnover|throughput|latency))\b/giu
const ORGANIZATION =
  /\b(?:Inc|Corp|Corporation|Company|Co|Ltd|Limited|LLC|LLP|PLC|GmbH|AG|SE|University|Institute|College|Bank|Group|Foundation|Association|Agency|Ministry|Department|Commission|Committee|Council|Union|Hospital|Laborator(?:y|ies))$|^(?:University|Institute|Bank|Ministry|Department|Commission|Council) |(?:^| )(?:Office|Guild|Court|Bureau|Board|Agency|Museum|Bank|Ministry|Department|University) (?:of|for) /u
const POLICY =
  /\b(?:Policy|Policies|Act|Regulation|Directive|Standard|Guidelines?|Law|Rule|Code|Agreement|Treaty|Protocol|Procedure)$|^(?:ISO|IEC|RFC|DIN|IFRS|GAAP)[ -]?\d/u
const PRODUCT = /^\p{L}[\p{L} ]* ?\d{1,4}[A-Z]?$|[®™]$/u
const PERSON_BEFORE =
  /(?:\b(?:Mr|Mrs|Ms|Dr|Prof)\.?|\b(?:[Pp]resident|[Cc]hair(?:man|woman)?|[Dd]irector|[Mm]anager|[Ee]ngineer|[Aa]uthor|CEO|CFO|CTO|[Oo]fficer)|\b(?:led|headed|founded|written|invented|signed|designed|managed|run|owned) by|\bnamed)[ \u00a0,]*$/u
const PERSON_AFTER =
  /^(?: (?:said|wrote|leads|led|founded|invented|works|joined|was born|lives|manages|heads)\b|, (?:the |our |its )?(?:chief|president|director|author|engineer|founder|chair|manager|head)\b)/u
const PERSON_NAME = /^\p{Lu}[\p{Ll}'’-]+(?: (?:(?:von|van|de|der) )?\p{Lu}[\p{L}'’-]+){1,2}$/u
/** One capitalised word is a name where it follows another word of its sentence. */
const SINGLE = /^\p{Lu}[\p{Ll}\p{M}’'-]{3,}$/u
const WITHIN = /[\p{Ll}\p{N},;][ \u00a0]$/u
const WORD_WITHIN = /(?<=[\p{Ll},] )\p{L}+/gu
const MOST_CAPITALS = 0.28
/** Words that begin a sentence or a reference and are no part of a name. */
const LEADING =
  /^(?:the|a|an|this|that|these|those|our|its|their|his|her|in|on|at|by|for|from|to|of|and|or|but|as|if|when|while|since|after|before|see|with|under|however|all|any|each|some|most|no|not|both|many|other|such|there|here|now|then|later|today|also|between|during|among|although|because|until|within|without|upon|against|despite|following|like|unlike|thus|is|are|was|were|what|who|which|where|how|why|we|it|he|she|they|you|i|item|note|table|figure|page|section|chapter|mr|mrs|ms|dr|prof)[ \u00a0]+/iu

/** Mentions of entities in a text, by rules, in the order of their places; all mentions of one name have one type. */
export function findEntities(text: string): FoundEntity[] {
  const found = new Map<string, FoundEntity>()
  const places = new Map<string, FoundEntity>()
  const keep = (name: string, type: EntityType, at: number, confidence: number, key = canonicalKey(name)): void => {
    if (key === '' || key.length > MAX_NAME) return
    places.set(`${at}/${key}`, { name, type, canonicalKey: key, confidence, at })
    const known = found.get(key)
    if (known === undefined || (known.type === 'term' && type !== 'term'))
      found.set(key, { name, type, canonicalKey: key, confidence, at })
  }
  for (const [pattern, keyOf] of DATES)
    for (const match of text.matchAll(pattern)) keep(match[0], 'date', match.index, 0.95, keyOf(match))
  for (const match of text.matchAll(METRIC)) keep(match[1] ?? '', 'metric', match.index, 0.7)
  for (const match of text.matchAll(QUOTED)) keep((match[1] ?? '').replace(/[,.]$/, ''), 'term', match.index, 0.6)
  const singles = namesByCapitals(text)
  for (const match of text.matchAll(NAME)) {
    const name = nameOf(match[0])
    if (name === undefined) continue
    const at = match.index + match[0].indexOf(name)
    const before = text.slice(Math.max(0, at - 30), at)
    if (!/[ \u00a0]/u.test(name) && !isAcronym(name) && !(singles && WITHIN.test(before))) continue
    const { type, confidence } = typeOf(name, before, text.slice(at + name.length).slice(0, 30))
    keep(name, type, at, confidence)
  }
  const typed = [...places.values()].map((mention): FoundEntity => {
    const { type, confidence } = found.get(mention.canonicalKey) ?? mention
    return { ...mention, type, confidence }
  })
  return typed.sort((a, b) => a.at - b.at)
}

/** What spellings of one name share: lower case without accents, articles, marks and legal forms. */
export function canonicalKey(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(/['’]s\b/g, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .replace(/^(?:the|an?) /, '')
    .replace(/ (?:inc|corp|corporation|ltd|limited|llc|plc|gmbh|ag|se)$/, '')
}

function isAcronym(name: string): boolean {
  return name.length <= 8 && /^\p{Lu}{2}[\p{Lu}\p{N}-]*$/u.test(name)
}

/** Whether a capital within a sentence makes a name here: not in German, where every noun has one. */
function namesByCapitals(text: string): boolean {
  let words = 0
  let capitals = 0
  for (const [word] of text.matchAll(WORD_WITHIN)) {
    words++
    if (/^\p{Lu}/u.test(word)) capitals++
  }
  return capitals <= words * MOST_CAPITALS
}

/** The name in a run of capitalised words, or nothing where there is none. */
function nameOf(run: string): string | undefined {
  let name = run.replace(/['’]s$/u, '')
  for (let stripped = name.replace(LEADING, ''); stripped !== name; stripped = name.replace(LEADING, ''))
    name = stripped
  name = name.replace(/[ \u00a0]+\d+$/u, (number) => (/^[ \u00a0]\d{1,3}$/u.test(number) ? number : ''))
  const words = name.split(/[ \u00a0]+/u)
  if (words.length > MAX_WORDS || name.length > MAX_NAME) return undefined
  if (words.length === 1) return isAcronym(name) || SINGLE.test(name) ? name : undefined
  return ALL_MONTHS.includes((words[0] ?? '').toLowerCase()) ? undefined : name
}

function typeOf(name: string, before: string, after: string): { type: EntityType; confidence: number } {
  if (ORGANIZATION.test(name)) return { type: 'organization', confidence: 0.85 }
  if (POLICY.test(name)) return { type: 'policy', confidence: 0.8 }
  if (PERSON_NAME.test(name) && (PERSON_BEFORE.test(before) || PERSON_AFTER.test(after)))
    return { type: 'person', confidence: 0.8 }
  if (PRODUCT.test(name) || /^[®™]/u.test(after)) return { type: 'product', confidence: 0.7 }
  return { type: 'term', confidence: 0.6 }
}

function dateKey(year: string | undefined, month: string | undefined, day: string | undefined): string {
  const number = ALL_MONTHS.indexOf((month ?? '').toLowerCase()) + 1
  return `${year}-${String(number).padStart(2, '0')}-${(day ?? '').padStart(2, '0')}`
}
