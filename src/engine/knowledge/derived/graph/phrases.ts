import type { EntityMention } from './entities.js'
import { DETERMINERS, isFunctionWord, PREPOSITIONS, VERBS } from './function-words.js'
import type { EndKind } from './predicates.js'
import { isCapitalised, type SentenceToken } from './tokens.js'

/** A noun phrase that may be an end of a relation. */
export interface NounPhrase {
  name: string
  /** the mention that it consists of, where a rule found it as a name */
  mention?: EntityMention
  isName: boolean
  /** UTF-16 offset in the text */
  offset: number
  /** indexes of its first and last token */
  first: number
  last: number
}

/** A tokenized sentence with its mentions. */
export interface TokenizedSentence {
  text: string
  tokens: readonly SentenceToken[]
  mentions: readonly EntityMention[]
}

/** Maximal number of words of a noun phrase that is not a name. */
const MAX_PHRASE_WORDS = 5
/** Nouns that identify nothing alone. */
const VAGUE = new Set(
  `system systems approach method methods result results study studies data way ways part parts thing things case cases
   people number numbers use time times work works problem problems model models value values effect effects factor factors
   change changes process paper papers author authors area end order set form type kind level group groups company firm
   application use idea fact place point others phase phases portion portions east west north south year years month months day days day week weeks today world example
   examples team project analysis solution solutions technique techniques theory equation equations figure table section
   chapter article report line lines side sides member members procedure version service product products condition
   conditions situation reason lot one ones amount amounts function term terms state states event events country
   organization business agreement transaction period rate respect view course means basis feature features activity
   latter former following above same assumption assumptions treatment treatments patient patients subject subjects
   quantity quantities consideration difference differences increase decrease question answer response man woman person men women`.split(
    /\s+/,
  ),
)
/** Words whose owner is named in another sentence. */
const POSSESSIVES = new Set(['its', 'their', 'his', 'her', 'whose'])
/** Groups of people: a sentence that starts with one names nobody in particular. */
const PEOPLE = /(?:ers|ors|ists|ians|ees|ants|men|women|people|students|companies|firms|engineers)$/iu
const SKIPPED_BEFORE_PHRASE = new Set([
  ...DETERMINERS,
  '"',
  '“',
  '”',
  "'",
  '‘',
  '’',
  '`',
  'both',
  'either',
  'mainly',
  'partly',
  'very',
  'to',
  'rise',
])
/** Time words between a time expression and a subject. */
const TIME_WORDS = new Set(
  `default week weeks month months year years day days night morning evening spring summer autumn winter century decade
   today yesterday time times monday tuesday wednesday thursday friday saturday sunday`.split(/\s+/),
)
/** `a number of pumps` means pumps. */
const QUANTITIES = new Set(
  `number variety series range set couple majority lot mass pair array collection combination mixture handful dozens
   hundreds thousands kind type form sort half most part`.split(/\s+/),
)
/** Verb forms that are nouns after an adjective: `significant increases`. */
const ALSO_NOUNS = new Set(
  `increase increases decrease decreases result results cause causes use uses need needs work works report reports
   study studies change changes support supports lead leads cost costs play end ends claim claims find finds help
   run runs set sets start stop hold holds win wins loss`.split(/\s+/),
)
const ADJECTIVE = /(?:ous|ible|less|ical|[a-z]{3}ful|[a-z]{2}ive|[a-z]{2}able|[a-z]{2}ional)$/
const ADJECTIVE_EXCEPTIONS = new Set(
  `archive objective motive narrative perspective alternative executive detective initiative representative native
   drive five hive olive cable table vegetable variable timetable handful spoonful octave derivative additive adhesive
   explosive preservative relative locomotive directive incentive collective professional national`.split(/\s+/),
)
const ADJECTIVES = new Set(
  `significant adequate alternate high low new large small great important symmetric unmet different further early late
   single strong weak slight upstream downstream adjacent due similar common old young good bad long short wide many
   distinct recent present normal major minor main basic early severe acute chronic special whole entire true clear complex simple second third first little general particular specific minimum maximum`.split(
    /\s+/,
  ),
)
const NOUNS_IN_LY = new Set([
  'family',
  'assembly',
  'supply',
  'anomaly',
  'reply',
  'monopoly',
  'butterfly',
  'disassembly',
])
/** `the city of Lyon` means Lyon. */
const NAMING_HEADS = new Set([
  'city',
  'town',
  'village',
  'state',
  'province',
  'county',
  'district',
  'region',
  'island',
  'kingdom',
  'republic',
  'port',
  'municipality',
  'borough',
  'most',
  'all',
  'part',
  'half',
])
const LEGAL_FORMS = new Set(['inc', 'ltd', 'corp', 'co', 'llc', 'plc', 'gmbh', 'ag', 'sa', 'jr', 'sr'])

/** The noun phrase whose last word is at an index; undefined where none ends there. */
export function findPhraseBefore(sentence: TokenizedSentence, last: number): NounPhrase | undefined {
  const { tokens } = sentence
  let first = last + 1
  for (let index = last; index >= 0; index--) {
    const token = tokens[index]
    if (token === undefined || !isPhraseWord(token)) break
    // `In 2019 Acme bought`, `last week Acme bought`
    if (index < last && token.mention === undefined && (TIME_WORDS.has(token.lower) || /^\d+$/.test(token.text))) break
    if (index < last && token.possessive && token.mention === undefined) break
    first = index
    if (index < last && token.possessive) break
  }
  return first > last ? undefined : toPhrase(sentence, first, last)
}

/** The noun phrase that starts at an index, after its articles; undefined where none starts there. */
export function findPhraseAfter(sentence: TokenizedSentence, index: number, kind: EndKind): NounPhrase | undefined {
  const { tokens } = sentence
  let first = index
  while (
    tokens[first] !== undefined &&
    SKIPPED_BEFORE_PHRASE.has(tokens[first]?.lower ?? '') &&
    tokens[first]?.mention === undefined
  ) {
    if (tokens[first]?.lower === 'no') return undefined
    first++
  }
  while (/^\d[\d,.]*%?$/.test(tokens[first]?.text ?? '') && tokens[first]?.mention === undefined) first++
  let last = first - 1
  for (let i = first; ; i++) {
    const token = tokens[i]
    const follows = i > first && token !== undefined && ALSO_NOUNS.has(token.lower) && isModifier(tokens[i - 1])
    if (token === undefined || !(isPhraseWord(token) || follows)) break
    if (i > first && token.mention === undefined && (isTrailingParticiple(tokens, i) || TIME_WORDS.has(token.lower)))
      break
    last = i
  }
  if (last < first) return undefined
  const found = toPhrase(sentence, first, last)
  const next = tokens[last + 1]
  if (next?.lower !== 'of' || found?.mention !== undefined) return found
  const rest = findPhraseAfter(sentence, last + 2, kind)
  if (rest === undefined) return undefined
  const head = tokens[last]?.lower ?? ''
  if (NAMING_HEADS.has(head) || (QUANTITIES.has(head) && kind === 'any')) return rest
  if (kind === 'name') return undefined
  return toCommonPhrase(sentence, first, rest.last, MAX_PHRASE_WORDS + 3)
}

/**
 * Whether a single word is an incomplete phrase: `innate and adaptive immunity`, `depletion in mice of cells`,
 * `small-scale (…) trials`.
 */
function isIncomplete(tokens: readonly SentenceToken[], index: number): boolean {
  const word = tokens[index]?.lower ?? ''
  const next = tokens[index + 1]?.lower ?? ''
  if (/(?:al|ic|ate|ary)$/.test(word) && /^(?:and|or|,)$/.test(next)) return true
  if (/^(?:reduction|depletion|induction|elevation|alteration|limitation|improvement)s?$/.test(word) && next === 'in')
    return true
  // a participle before its noun; `memcached with …` is a name
  if (/[^e]ed$/.test(word) && word.length > 4) return next !== '' && next !== '.' && !PREPOSITIONS.has(next)
  if (word.endsWith('ing') && DETERMINERS.has(next)) return true
  return word.includes('-') && next === '('
}

function isAdjective(token: SentenceToken | undefined): boolean {
  if (token === undefined || token.mention !== undefined || isCapitalised(token.text)) return false
  return ADJECTIVES.has(token.lower) || (ADJECTIVE.test(token.lower) && !ADJECTIVE_EXCEPTIONS.has(token.lower))
}

function isModifier(token: SentenceToken | undefined): boolean {
  return isAdjective(token) || /(?:al|ic|ed|ary|er|ing)$/.test(token?.lower ?? '')
}

/** Whether a word can be part of a noun phrase. */
function isPhraseWord(token: SentenceToken): boolean {
  if (token.mention !== undefined) return true
  if (!token.isWord || isFunctionWord(token.lower) || VERBS.has(token.lower)) return false
  return !(
    token.lower.endsWith('ly') &&
    token.lower.length > 4 &&
    !isCapitalised(token.text) &&
    !NOUNS_IN_LY.has(token.lower)
  )
}

/**
 * Whether a word is a participle after a noun: `systems based on`, `servers running in`; not `manufactured items`,
 * `training of staff`.
 */
function isTrailingParticiple(tokens: readonly SentenceToken[], index: number): boolean {
  const token = tokens[index]
  const next = tokens[index + 1]
  if (token === undefined || isCapitalised(token.text) || token.lower.includes('-')) return false
  const isAtEnd = next === undefined || !next.isWord || (isFunctionWord(next.lower) && next.lower !== 'of')
  if (isModifier(tokens[index - 1]) && next?.lower !== 'the') return false
  if (/[^e]ed$/.test(token.lower) && token.lower.length > 4) return isAtEnd || next?.lower === 'of'
  return /ing$/.test(token.lower) && next?.isWord === true && (isAtEnd || isCapitalised(next.text))
}

function toPhrase(sentence: TokenizedSentence, first: number, last: number): NounPhrase | undefined {
  const { tokens, mentions, text } = sentence
  const end = tokens[last]
  const start = tokens[first]
  if (start === undefined || end === undefined) return undefined
  if (end.mention !== undefined) {
    const mention = mentions[end.mention]
    if (mention === undefined || mention.type === 'date') return undefined
    // the name continues after the phrase
    if (mention.offset + mention.name.length > end.end + 1) return undefined
    const from = tokens.findIndex((token) => token.start >= mention.offset)
    return {
      name: mention.name,
      mention,
      isName: mention.type !== 'metric',
      offset: mention.offset,
      first: Math.min(first, from),
      last,
    }
  }
  // `Travel Policy 2023`
  if (last > first && /^\d+$/.test(end.text) && isCapitalised(tokens[last - 1]?.text ?? ''))
    return { name: text.slice(start.start, end.end), isName: true, offset: start.start, first, last }
  const capitals = tokens.slice(first, last + 1).filter((token) => isCapitalised(token.text)).length
  if (capitals === last - first + 1 && capitals <= MAX_PHRASE_WORDS) {
    const name = text.slice(start.start, end.end)
    if (capitals === 1 && !mayBeName(sentence, first)) return toCommonPhrase(sentence, first, last)
    return { name, isName: true, offset: start.start, first, last }
  }
  // `the Swedish maker Volvo`: the last word is the name
  if (isCapitalised(end.text) && !isCapitalised(start.text))
    return { name: end.text, isName: true, offset: end.start, first, last }
  return toCommonPhrase(sentence, first, last)
}

/** Whether a single capitalised word may be a name: at the start of a sentence it may be any word. */
function mayBeName({ text, tokens }: TokenizedSentence, index: number): boolean {
  const word = tokens[index]?.text ?? ''
  if (word.length < 3 || PEOPLE.test(word) || isFunctionWord(word.toLowerCase()) || VERBS.has(word.toLowerCase()))
    return false
  return !text.includes(` ${word.toLowerCase()} `)
}

function toCommonPhrase(
  { tokens, text }: TokenizedSentence,
  from: number,
  last: number,
  maxWords = MAX_PHRASE_WORDS,
): NounPhrase | undefined {
  // a heading before a sentence without punctuation in between: `METHODS Water samples were …`
  const isHeading =
    /^\p{Lu}{5,}$/u.test(tokens[from]?.text ?? '') && isCapitalised(tokens[from + 1]?.text ?? '') && from < last
  const first = isHeading ? from + 1 : from
  const start = tokens[first]
  const end = tokens[last]
  if (start === undefined || end === undefined || last - first > maxWords) return undefined
  if (isAdjective(end)) return undefined
  if (VAGUE.has(end.lower) && tokens.slice(first, last).every((token) => isAdjective(token))) return undefined
  if (first === last && (end.lower.length < 3 || isIncomplete(tokens, last))) return undefined
  if (!/\p{L}{2}/u.test(end.text)) return undefined
  return {
    name: text.slice(start.start, end.end).replace(/\s+/g, ' '),
    isName: false,
    offset: start.start,
    first,
    last,
  }
}

/**
 * The word before a phrase and its articles, in lower case: `the president of France`. `its` and `whose` are returned,
 * too.
 */
export function findWordBefore({ tokens }: TokenizedSentence, phrase: NounPhrase): string {
  for (let index = phrase.first - 1; index >= 0; index--) {
    const { lower = '', text = '' } = tokens[index] ?? {}
    if (lower === 'no' || POSSESSIVES.has(lower)) return lower
    const isArticle = DETERMINERS.has(lower) || /^["“‘`]$/.test(text) || (!phrase.isName && /^\d/.test(text))
    // `a given size`
    const isParticiple = /(?:[^e]ed|en|ing)$/.test(lower) && DETERMINERS.has(tokens[index - 1]?.lower ?? '')
    if (!isArticle && !isParticiple) return lower
  }
  return ''
}

export function isPreposition(word: string): boolean {
  return PREPOSITIONS.has(word)
}

export function isPossessive(word: string): boolean {
  return POSSESSIVES.has(word)
}

/** Whether a word is a legal form: `Acme, Inc., bought`. */
export function isLegalForm(word: string): boolean {
  return LEGAL_FORMS.has(word)
}
