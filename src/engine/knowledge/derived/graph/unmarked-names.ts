import { isFunctionWord, VERBS } from './function-words.js'

/** A name without a capital. */
export interface UnmarkedName {
  name: string
  offset: number
  type: 'product' | 'term'
  confidence: number
}

/** Quick tests of a text before each pattern: most texts have few of these, and a test is cheap. */
const QUICK_TESTS = {
  identifier: /_|[a-z][A-Z]/,
  digit: /[a-z]-?\d/,
  dotted: /[\w-]\.(?:[a-z]{2,7})(?!\w)/,
  version: / v\d|\d\.\d+\.\d/,
}
const CODE = /`([^`\n]{2,60})`/gu
const IDENTIFIER =
  /(?<![\w.@/-])(?:[a-z]\w*_\w*[a-z0-9]|[a-z]{1,20}[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*|[A-Z][a-z]+[A-Z][A-Za-z0-9]+)(?!\w)/gu
const WITH_DIGIT = /(?<![\w.@/%$€£-])([a-z][a-z]{0,19})-?\d[a-z0-9-]{0,11}(?![\w%@/])/gu
/** `node.js`, `config.yaml`, `example.org` */
const DOTTED =
  /(?<![\w@/.-])[\w-]{2,30}\.(?:js|ts|py|rb|go|rs|java|json|ya?ml|toml|conf|cfg|ini|sh|md|sql|xml|html|css|service|io|dev|com|org|net)(?![\w/])/gu
const VERSIONED = /(?<![\w.-])([a-z][a-z0-9-]{1,30}) (?:v\d+(?:\.\d+)*|\d+(?:\.\d+){2,})(?!\w)/gu
const INTRODUCED = /(?<!\bso[ -])\b(?:called|named|known as|codenamed|nicknamed) ([a-z][a-z0-9-]{2,30})(?=[\s,.;:)])/gu
/** `redis is an in-memory database` */
const KIND =
  'server|database|library|framework|tool|proxy|daemon|package|broker|cache|editor|shell|compiler|runtime|language|protocol|plugin|client|platform|engine|orchestrator|scheduler|utility|program|app|balancer|manager'
const CLASSIFIED = new RegExp(`(?:^|[.!?\\n][ \\n])([a-z][a-z0-9-]{1,30}) is an? (?:[\\w-]+ ){0,4}(?:${KIND})\\b`, 'gu')
/** A short word without a vowel is not an English word: `npm`, `grpc`, `ssh`. */
const VOWELLESS = /(?<![\w.@/$%-])[b-df-hj-np-tv-xz]{3,6}(?![\w/-])/gu
const UNITS = new Set(
  'kph mph rpm ppm ppb kwh mwh gwh kbps mbps gbps kpa mpa psf lbs hrs mrs ltd pvt etc hmm pct bps ths cwt mgd vol pts qtr sft ftp http https www tbd mln bln pls sth smth msg pkg'.split(
    ' ',
  ),
)
/** Words before numbers that refer, count or measure. */
const BEFORE_NUMBERS = new Set(
  'version section table figure fig chapter page release part step item line vol volume no number about approximately eq equation note day week month year phase type level grade stage group class case grade x y z n p t f m r h a b c d e g i j k l q s u v w'.split(
    ' ',
  ),
)
const CODE_CHARACTERS = /^[\w.$#/:@-]+(?: [\w.$#/:@-]+){0,2}(?:\(\))?$/u

/**
 * Finds code, identifiers, words with digits or without vowels, and lower-case words that the text introduces as names.
 */
export function findUnmarkedNames(text: string): UnmarkedName[] {
  const found: UnmarkedName[] = []
  const add = (name: string, offset: number, type: UnmarkedName['type'], confidence: number): void => {
    if (name.length > 1 && !isFunctionWord(name) && !VERBS.has(name)) found.push({ name, offset, type, confidence })
  }
  const addFirstGroup = (match: RegExpMatchArray, type: UnmarkedName['type'], confidence: number): void => {
    const name = match[1] ?? ''
    add(name, (match.index ?? 0) + match[0].indexOf(name), type, confidence)
  }
  if (text.includes('`'))
    for (const match of text.matchAll(CODE))
      if (CODE_CHARACTERS.test(match[1] ?? '')) add((match[1] ?? '').replace(/\(\)$/, ''), match.index + 1, 'term', 0.7)
  if (QUICK_TESTS.identifier.test(text))
    for (const match of text.matchAll(IDENTIFIER)) add(match[0], match.index, 'term', 0.65)
  if (QUICK_TESTS.digit.test(text))
    for (const match of text.matchAll(WITH_DIGIT))
      if (!BEFORE_NUMBERS.has(match[1] ?? '')) add(match[0].replace(/-$/, ''), match.index, 'term', 0.55)
  if (QUICK_TESTS.dotted.test(text)) for (const match of text.matchAll(DOTTED)) add(match[0], match.index, 'term', 0.65)
  if (QUICK_TESTS.version.test(text))
    for (const match of text.matchAll(VERSIONED))
      if (!BEFORE_NUMBERS.has(match[1] ?? '')) addFirstGroup(match, 'product', 0.75)
  for (const match of text.matchAll(INTRODUCED)) addFirstGroup(match, 'term', 0.6)
  for (const match of text.matchAll(CLASSIFIED)) addFirstGroup(match, 'product', 0.75)
  for (const match of text.matchAll(VOWELLESS)) if (!UNITS.has(match[0])) add(match[0], match.index, 'term', 0.5)
  return found
}
