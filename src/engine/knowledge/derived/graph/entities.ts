import { analyzeCapitals, type CapitalUse, isInRanges } from './capitals.js'
import { isFunctionWord } from './function-words.js'
import { findUnmarkedNames } from './unmarked-names.js'

export const ENTITY_TYPES = ['date', 'metric', 'organization', 'person', 'policy', 'product', 'term'] as const
export type ExtractedEntityType = (typeof ENTITY_TYPES)[number]

export interface EntityMention {
  name: string
  type: ExtractedEntityType
  /** the part that spellings of one name share */
  canonicalKey: string
  /** 0 to 1, from the rule that found the mention */
  confidence: number
  /** UTF-16 offset in the text */
  offset: number
}

/** Longer "names" are headings in capitals or lists. */
const MAX_NAME_CHARACTERS = 120
const MAX_NAME_WORDS = 6

// Spaces only: a name does not continue in the next line. A word is delimited by characters that it cannot contain, so
// a run is scanned once.
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
  [new RegExp(`\\b${MONTH} (\\d{1,2}),? (\\d{4})\\b`, 'giu'), ([, month, day, year]) => toDateKey(year, month, day)],
  [new RegExp(`\\b(\\d{1,2})\\.? ${MONTH} (\\d{4})\\b`, 'giu'), ([, day, month, year]) => toDateKey(year, month, day)],
  [/\b(?:FY|fiscal(?: year)?) ?((?:19|20)\d\d)\b/giu, ([, year]) => `fy ${year}`],
  [/\bQ([1-4]) (?:FY ?)?((?:19|20)\d\d)\b/giu, ([, quarter, year]) => `${year} q${quarter}`],
]
/**
 * Every date contains a match of YEAR, every metric one of MEASURE: most texts have none, and one test rules them out.
 */
const YEAR = /\d{4}/
const MEASURE = /margin|\bratio|revenue|income|earnings|cash flow|expense|turnover|throughput|latency/i
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
/** A single capitalised word is a name where it follows another word of its sentence. */
const SINGLE_WORD = /^\p{Lu}[\p{Ll}\p{M}’'-]{3,}$/u
const AFTER_WORD = /[\p{Ll}\p{N},;][ \u00a0]$/u
/** A capital inside of a word marks a name at any position: `GitHub`, `McDonald`, `PostgreSQL`. */
const MIXED_CASE = /^\p{Lu}\p{Ll}+\p{Lu}[\p{L}\p{N}]*$/u
/** Longer quotes are sentences. */
const MAX_QUOTED_WORDS = 5
/** Words that start a sentence or a reference and do not belong to a name. */
const LEADING_WORDS =
  /^(?:the|a|an|this|that|these|those|our|its|their|his|her|in|on|at|by|for|from|to|of|and|or|but|as|if|when|while|since|after|before|see|with|under|however|all|any|each|some|most|no|not|both|many|other|such|there|here|now|then|later|today|also|between|during|among|although|because|until|within|without|upon|against|despite|following|like|unlike|thus|is|are|was|were|what|who|which|where|how|why|we|it|he|she|they|you|i|item|note|table|figure|page|section|chapter|mr|mrs|ms|dr|prof|though|even|only|just|about|over|nearly|almost|some|one|two|three)[ \u00a0]+/iu

const GERMAN_ARTICLE =
  /^(?:Der|Die|Das|Den|Dem|Des|Ein|Eine[mnrs]?|Im|Am|Zum|Zur|Und|Bei|Mit|Nach|Von|Auf|Für|In|An|Als|Wenn|Diese[mnrs]?)[ \u00a0]+/u
/** A heading before a sentence without punctuation in between: `METHODS We measured`. */
const SENTENCE_BEGINS =
  /[ \u00a0]+(?:We|It|They|This|These|Our|In|The|There|He|She|However|To|When|If|As)(?:[ \u00a0].*)?$/u

/**
 * Finds mentions of entities in a text by rules, in the order of their offsets; all mentions of one name get one type.
 */
export function findEntities(text: string): EntityMention[] {
  const found = new Map<string, EntityMention>()
  const mentionsByOffset = new Map<string, EntityMention>()
  const add = ({ name, type, offset, confidence }: NamedMention, key = canonicalKey(name)): void => {
    if (key === '' || key.length > MAX_NAME_CHARACTERS) return
    const mention = { name, type, canonicalKey: key, confidence, offset }
    mentionsByOffset.set(`${offset}/${key}`, mention)
    const known = found.get(key)
    if (known === undefined || (known.type === 'term' && type !== 'term')) found.set(key, mention)
  }
  if (YEAR.test(text))
    for (const [pattern, keyOf] of DATES)
      for (const match of text.matchAll(pattern))
        add({ name: match[0], type: 'date', offset: match.index, confidence: 0.95 }, keyOf(match))
  if (MEASURE.test(text))
    for (const match of text.matchAll(METRIC))
      add({ name: match[1] ?? '', type: 'metric', offset: match.index, confidence: 0.7 })
  for (const match of text.matchAll(QUOTED)) {
    const name = (match[1] ?? '').replace(/[,.]$/, '')
    if (name.split(' ').length <= MAX_QUOTED_WORDS)
      add({ name, type: 'term', offset: match.index + 1, confidence: 0.6 })
  }
  for (const mention of findUnmarkedNames(text)) add(mention)
  const capitals = analyzeCapitals(text)
  for (const match of text.matchAll(NAME))
    for (const part of splitRun(match[0], match.index, capitals)) addNameOfRun(text, part, capitals, add)
  const typed = [...mentionsByOffset.values()].map((mention): EntityMention => {
    const { type, confidence } = found.get(mention.canonicalKey) ?? mention
    return { ...mention, type, confidence }
  })
  return typed.sort((a, b) => a.offset - b.offset)
}

type NamedMention = Omit<EntityMention, 'canonicalKey'>

/** Adjacent capitalised words, and their UTF-16 offset. */
interface CapitalisedRun {
  run: string
  index: number
}

/** Splits `Acme's Blue Harbour` into owner and possession; `King's College` stays one name. */
function splitRun(run: string, index: number, capitals: CapitalUse): CapitalisedRun[] {
  if (isInRanges(capitals.headings, index)) return splitHeadingRun(run, index)
  const article = capitals.markNames ? undefined : GERMAN_ARTICLE.exec(run)?.[0]
  if (article !== undefined) return splitRun(run.slice(article.length), index + article.length, capitals)
  const owner = /^(.*?['’]s)[ \u00a0]+(?=\p{Lu})/u.exec(run)
  if (owner === null) return [{ run, index }]
  const rest = run.slice(owner[0].length)
  if (!/[ \u00a0]/u.test(rest) && ORGANIZATION.test(rest)) return [{ run, index }]
  return [{ run: owner[1] ?? '', index }, ...splitRun(rest, index + owner[0].length, capitals)]
}

/** Splits a line with a capital in every word at its function words. */
function splitHeadingRun(run: string, index: number): CapitalisedRun[] {
  const parts: CapitalisedRun[] = []
  for (const match of run.matchAll(/[^ \u00a0]+(?:[ \u00a0]+of[ \u00a0]+[^ \u00a0]+)?/gu)) {
    const last = parts.at(-1)
    if (isFunctionWord(match[0].toLowerCase())) parts.push({ run: '', index: 0 })
    else if (last === undefined || last.run === '') parts.push({ run: match[0], index: index + match.index })
    else last.run = run.slice(last.index - index, match.index + match[0].length)
  }
  return parts.filter((part) => part.run !== '')
}

/** Adds a run of capitalised words as a name, where capitals mark names. */
function addNameOfRun(
  text: string,
  { run, index }: CapitalisedRun,
  capitals: CapitalUse,
  add: (mention: NamedMention) => void,
): void {
  const name = extractName(run)
  if (name === undefined) return
  const offset = index + run.indexOf(name)
  const before = text.slice(Math.max(0, offset - 30), offset)
  const { type, confidence } = classifyName(name, before, text.slice(offset + name.length).slice(0, 30))
  // in a heading, only a name of a recognised form counts
  if (isInRanges(capitals.headings, offset)) {
    if (type !== 'term' && /\p{Ll}/u.test(name)) add({ name, type, offset, confidence })
    return
  }
  const single = !/[ \u00a0]/u.test(name) && !isAcronym(name) && !MIXED_CASE.test(name)
  if (single && !(capitals.markNames && AFTER_WORD.test(before))) return
  add({ name, type, offset, confidence })
}

/** Normalises a name: lower case without accents, articles, possessives, punctuation and legal forms. */
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
    .replace(
      / (?:inc|incorporated|corp|corporation|co|ltd|limited|llc|llp|plc|gmbh|ag|kgaa|kg|se|ab|oy|oyj|asa|bv|nv|sa|spa|srl|ltda)$/,
      '',
    )
}

function isAcronym(name: string): boolean {
  return name.length <= 8 && /^\p{Lu}{2}[\p{Lu}\p{N}-]*$/u.test(name)
}

/** The name in a run of capitalised words; undefined where there is none. */
function extractName(run: string): string | undefined {
  let name = run.replace(/['’]s?$/u, '')
  for (let stripped = name.replace(LEADING_WORDS, ''); stripped !== name; stripped = name.replace(LEADING_WORDS, ''))
    name = stripped
  // `In 2019 Acme bought`
  name = name.replace(/^\d+[ \u00a0]+/u, '').replace(SENTENCE_BEGINS, '')
  name = name.replace(/[ \u00a0]+\d+$/u, (number) => (/^[ \u00a0]\d{1,3}$/u.test(number) ? number : ''))
  const words = name.split(/[ \u00a0]+/u)
  if (words.length > MAX_NAME_WORDS || name.length > MAX_NAME_CHARACTERS) return undefined
  if (words.length === 1) return isAcronym(name) || SINGLE_WORD.test(name) || MIXED_CASE.test(name) ? name : undefined
  if (!ALL_MONTHS.includes((words[0] ?? '').toLowerCase())) return name
  // `In May Linden Paper was sold`; `March Street` alone may be anything
  return run.startsWith(name) || words.length < 3 ? undefined : words.slice(1).join(' ')
}

function classifyName(name: string, before: string, after: string): { type: ExtractedEntityType; confidence: number } {
  if (ORGANIZATION.test(name)) return { type: 'organization', confidence: 0.85 }
  if (POLICY.test(name)) return { type: 'policy', confidence: 0.8 }
  if (PERSON_NAME.test(name) && (PERSON_BEFORE.test(before) || PERSON_AFTER.test(after)))
    return { type: 'person', confidence: 0.8 }
  if (PRODUCT.test(name) || /^[®™]/u.test(after)) return { type: 'product', confidence: 0.7 }
  return { type: 'term', confidence: 0.6 }
}

function toDateKey(year: string | undefined, month: string | undefined, day: string | undefined): string {
  const number = ALL_MONTHS.indexOf((month ?? '').toLowerCase()) + 1
  return `${year}-${String(number).padStart(2, '0')}-${(day ?? '').padStart(2, '0')}`
}
