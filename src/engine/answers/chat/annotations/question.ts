import { stemmer } from 'stemmer'

/**
 * A question in normal form: two wordings of one question are equal, and everything that distinguishes questions is
 * kept: what is asked for (a time, a place, yes or no), every content word, negation, numbers, names, tense and
 * direction. English is analyzed; in other languages every word and its order count.
 */
export interface ParsedQuestion {
  /** Words that must agree, in order. */
  readonly words: readonly string[]
  /** Whether the order of words is irrelevant: "the hours of the shop", "the shop's hours". */
  readonly isOrderFree: boolean
  /** Negation and numbers, which must agree in any wording. */
  readonly hard: readonly string[]
  /** Names, if recognizable by their capitals, and all words, to check whether they contain a name. */
  readonly names: readonly string[]
  readonly tokens: ReadonlySet<string>
}

const TOKEN_PATTERN =
  /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|\p{Script=Thai}|[\p{L}\p{M}\p{N}]+(?:[.,:/-](?=\p{N})[\p{N}]+)*(?:['’](?:s|t|d|m|re|ve|ll)(?![\p{L}\p{N}]))?/giu

/** Phrases at the start and end of a question that ask nothing. */
const OPENING_PHRASES =
  /^(?:[\s,.!:;-]|(?:hi|hello|hey|dear|good (?:morning|afternoon|evening|day)|please|ok|okay|so|and|well|sorry|excuse me|thanks|thank you|quick question|i have a question|i(?: would|'d|’d)? (?:like|want|need|love) to know|i(?: am|'m|’m| was) wondering|(?:can|could|would|will) you (?:please )?(?:tell|show|inform|remind) (?:me|us)(?: about)?|(?:do you|does anyone) know|(?:tell|show|remind) (?:me|us)(?: about)?|let me know|(?:may|can|could) i ask)(?![\p{L}\p{N}])|请问|請問|すみません)+/iu
const CLOSING_PHRASES =
  /(?:[\s,.!?:;？！。、-]|(?<![\p{L}\p{N}])(?:please|thanks|thank you|exactly|for me|then|right now|currently|at the moment)(?![\p{L}\p{N}])|吗|嗎|呢|啊|呀|(?:は|を)?(?:何|なん)?(?:です|でしょう)か?|(?:を)?教えて(?:ください|下さい)?|は)+$/iu

/** Synonymous question phrases with their common name, longest first. */
const QUESTION_KINDS: readonly (readonly [RegExp, string])[] = [
  [
    /\b(?:how much (?:is|are|was|were|do|does|did|will|would|must)\b|(?:at |for )?what(?: is| are)? the (?:price|cost)s?\b)/giu,
    ' ?cost ',
  ],
  [/\bwhat\b(?=.*\bcosts?\s*$)/giu, ' ?cost '],
  [/\b(?:pric(?:e|es|ing)|costs?)\b/giu, ' ?cost '],
  [/\b(?:how much money)\b/giu, ' ?cost '],
  [/\b(?:how many|(?:what is )?the number of)\b/giu, ' ?count '],
  [/\b(?:how long|how much time|for what duration)\b/giu, ' ?duration '],
  [/\b(?:how often|how frequently)\b/giu, ' ?often '],
  [/\bhow (?:old|big|large|far|tall|high|deep|fast|heavy|late|early|soon|well|good|bad|safe|much)\b/giu, ' ?$& '],
  [
    /\b(?:(?:at|from|until|on|in)? ?(?:what|which) (?:time|times|hours?)|when|(?:business |office |working )?hours|times?)\b/giu,
    ' ?time ',
  ],
  [/\b(?:where(?:abouts)?|(?:at|in) (?:what|which) place|located|location)\b/giu, ' ?place '],
  [/\b(?:why|for what reason|what is the reason(?: that| why)?|the reason(?: that| why)?|how come)\b/giu, ' ?reason '],
  [
    /\b(?:how (?:can|could|do|does|should|would|may) (?:i|we|you|one|someone|a person)|how (?:to|do)|in what way|what is the (?:best )?way to|what should i do to)\b/giu,
    ' ?manner ',
  ],
  [/\bhow\b/giu, ' ?manner '],
  [/\b(?:who|whom)\b/giu, ' ?person '],
  [/\bwhose\b/giu, ' ?owner '],
]

/** Starts of questions that ask for yes or no. */
const YES_NO_START =
  /^(?:is|are|am|was|were|do|does|did|has|have|had|can|could|may|might|must|should|shall|will|would|isn't|aren't|don't|doesn't|didn't|can't|won't|isnt|arent|dont|doesnt|cant|wont)\b/iu
const NEGATIONS =
  /\b(?:\p{L}+n['’]t|cannot|isnt|arent|wasnt|werent|dont|doesnt|didnt|cant|wont|shouldnt|not|never|no|none|nobody|nothing|nowhere|neither|without|hardly)\b/giu
const PAST = /\b(?:was|were|did|had|been|used to)\b/iu
const FUTURE = /\b(?:will|shall|going to|would)\b|['’]ll\b/iu
const DUTY = /\b(?:must|should|have to|has to|need to|needs to|required to|ought)\b/iu
const ABILITY = /\b(?:can|could|may|might|allowed to|possible to|able to)\b/iu

/** English function words. Prepositions of place, time, direction and manner are not among them. */
const FUNCTION_WORDS: ReadonlySet<string> = new Set(
  (
    'a an the is are am was were be been being do does did done have has had can could may might must should shall will ' +
    'would what which of for in at on it its this that these those there here you your yours i we my our me us mine ' +
    'ours s t d m re ve ll please any some'
  ).split(' '),
)
/** Direction words: with one of them, order changes the meaning. */
const DIRECTION_WORDS: ReadonlySet<string> = new Set(
  'from to into onto than before after by between against over under above below through via as like until since'.split(
    ' ',
  ),
)
/** Genitives reverse the order of what they connect. */
const GENITIVES = /\b(?:of|for)\b|['’]s\b/iu
const UNSPACED_SCRIPT =
  /^(?:\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|\p{Script=Thai})$/u
const ENGLISH_WORDS = /\b(?:what|which|who|when|where|why|how|the|is|are|does|do|can|of|your|you|i)\b/iu

/** Longer texts are unlikely to be annotated questions, and take long to parse. */
const MAX_QUESTION_CHARS = 500

export function parseQuestion(question: string): ParsedQuestion {
  if (question.length > MAX_QUESTION_CHARS)
    return { words: [question], isOrderFree: false, hard: [], names: [], tokens: new Set() }
  const plain = question.normalize('NFKC').trim()
  const bare = plain.replace(OPENING_PHRASES, '').replace(CLOSING_PHRASES, '') || plain
  const isEnglish = ENGLISH_WORDS.test(bare) || /^[\x20-\x7e]*$/.test(bare)
  const tokens = [...bare.matchAll(TOKEN_PATTERN)].map(([token]) => token)
  const hard = [...extractNumbers(tokens), ...(isEnglish && isNegated(bare) ? ['!not'] : [])]
  const lower = tokens.map((token) => token.toLowerCase())
  const common = { hard, names: isEnglish ? extractNames(tokens) : [], tokens: new Set(lower) }
  if (!isEnglish) return { words: lower, isOrderFree: false, ...common }
  const { rest, kinds } = extractKinds(bare)
  const words = extractContent(rest, new Set(hard))
  const isLoose = GENITIVES.test(bare) && !words.some((word) => DIRECTION_WORDS.has(word))
  return { words: [...extractMarkers(bare, kinds), ...words], isOrderFree: isLoose, ...common }
}

/** Whether two questions ask the same, judging by their words. */
export function asksSame(a: ParsedQuestion, b: ParsedQuestion): boolean {
  if (contradicts(a, b)) return false
  const isSame = equalLists(a.words, b.words)
  const sorted = (words: readonly string[]) => [...words].sort()
  const isContent = a.words.some((word) => !/^[?!]/.test(word))
  return isContent && (isSame || ((a.isOrderFree || b.isOrderFree) && equalLists(sorted(a.words), sorted(b.words))))
}

/**
 * Whether they cannot ask the same in any wording: one is negated, numbers differ, or each has a name that the other
 * lacks.
 */
export function contradicts(a: ParsedQuestion, b: ParsedQuestion): boolean {
  const lacksName = (names: readonly string[], { tokens }: ParsedQuestion) => names.some((name) => !tokens.has(name))
  return !equalLists([...a.hard].sort(), [...b.hard].sort()) || (lacksName(a.names, b) && lacksName(b.names, a))
}

function equalLists(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((word, index) => word === b[index])
}

/** Numbers, single capital letters ("plan B") and words with a digit. */
function extractNumbers(tokens: readonly string[]): string[] {
  return tokens
    .filter((token, index) => /\p{N}/u.test(token) || (/^\p{Lu}$/u.test(token) && token !== 'I' && index > 0))
    .map((token) => `#${token.toLowerCase()}`)
}

/** Capitalized words that do not start a sentence: names in English. */
function extractNames(tokens: readonly string[]): string[] {
  return tokens.filter((token, index) => index > 0 && /^\p{Lu}\p{L}+$/u.test(token)).map((token) => token.toLowerCase())
}

function isNegated(text: string): boolean {
  return (text.match(NEGATIONS)?.length ?? 0) % 2 === 1
}

function extractKinds(text: string): { rest: string; kinds: Set<string> } {
  const kinds = new Set<string>()
  let rest = text
  for (const [pattern, kind] of QUESTION_KINDS)
    rest = rest.replace(pattern, (found) => {
      kinds.add(kind.trim().replace('$&', found.toLowerCase()))
      return ' '
    })
  return { rest, kinds }
}

/** Markers of a question: what it asks for, its tense, whether it asks for yes or no. */
function extractMarkers(text: string, kinds: ReadonlySet<string>): string[] {
  const isYesNo = YES_NO_START.test(text)
  const isOfMe = /\b(?:i|we)\b/iu.test(text) && !/\byou\b/iu.test(text)
  const isOfYou = /\byou\b/iu.test(text) && !/\b(?:i|we)\b/iu.test(text)
  const pronouns = text.match(/\b(?:i|we|me|us|you)\b/giu)?.map((word) => word.toLowerCase()) ?? []
  const isBetween = pronouns.includes('you') && pronouns.some((word) => word !== 'you')
  const asksPerson = (isYesNo || kinds.has('?time') || kinds.has('?place')) && (isOfMe || isOfYou)
  return [
    ...[...kinds].sort(),
    ...(isYesNo ? ['?yes-no'] : []),
    ...(isYesNo && ABILITY.test(text) ? ['?ability'] : []),
    ...(isYesNo && DUTY.test(text) ? ['?duty'] : []),
    ...(PAST.test(text) ? ['?past'] : []),
    ...(FUTURE.test(text) ? ['?future'] : []),
    ...(asksPerson && isOfMe ? ['?of-me'] : []),
    ...(isBetween ? [pronouns[0] === 'you' ? '?you-to-me' : '?me-to-you'] : []),
  ]
}

function extractContent(text: string, hard: ReadonlySet<string>): string[] {
  const tokens = [...text.replace(NEGATIONS, ' ').matchAll(TOKEN_PATTERN)].map(([token]) => token)
  return tokens
    .filter(
      (token) =>
        UNSPACED_SCRIPT.test(token) || hard.has(`#${token.toLowerCase()}`) || !FUNCTION_WORDS.has(token.toLowerCase()),
    )
    .map((token) => stemWord(token.toLowerCase().replace(/['’]\p{L}+$/u, '')))
}

function stemWord(word: string): string {
  return /^[a-z]+$/.test(word) ? stemmer(word) : word
}
