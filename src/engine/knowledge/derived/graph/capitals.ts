/** Range of a text in UTF-16 offsets. */
export interface CapitalRange {
  start: number
  end: number
}

/** What capital letters mean in a text. */
export interface CapitalUse {
  /** whether a capital within a sentence marks a name: not in German, where every noun has one */
  markNames: boolean
  /** ranges of lines with a capital in every word, or only capitals: they mark nothing there */
  headings: CapitalRange[]
}

/** Frequent words of one language that the other lacks or uses differently. */
const GERMAN = new Set(
  'der das und ist nicht ein eine einen einem einer mit von dem den des für auf sich auch wird wurde wurden sind im zum zur als bei durch nach oder werden'.split(
    ' ',
  ),
)
const ENGLISH = new Set(
  'the of and to is are for with that this by from it its has have were which been their they be not or'.split(' '),
)
const AUXILIARY_VERBS = new Set(['is', 'are', 'was', 'were', 'has', 'have', 'had', 'be', 'will', 'met', 'did', 'does'])
/** Minimal number of such words to detect German. */
const MIN_GERMAN_WORDS = 2
/** Length of the text's beginning that decides its language. */
const MAX_LANGUAGE_CHARACTERS = 600
/** Minimal number of words of a heading; a shorter line may be a name. */
const MIN_HEADING_WORDS = 4
/** Minimal fraction of a line's longer words with a capital that makes it a heading. */
const MIN_CAPITAL_FRACTION = 0.85
/** Words shorter than this are often in lower case in headings. */
const MIN_LONG_WORD_LETTERS = 4
/** A line with parts up to this many words is a list or a table row, and its capitals mark names. */
const MAX_LISTED_WORDS = 3

/** Determines the meaning of capitals in one pass over a text. */
export function analyzeCapitals(text: string): CapitalUse {
  let german = 0
  let english = 0
  const headings: CapitalRange[] = []
  let start = 0
  let line = emptyLine()
  const endLine = (end: number): void => {
    if (isHeadingLine(line)) headings.push({ start, end })
    start = end + 1
    line = emptyLine()
  }
  for (let index = 0; index < text.length; ) {
    const code = text.charCodeAt(index)
    if (!isLetter(text, index, code)) {
      if (code === 10) endLine(index)
      else if (code === 44 || code === 59 || code === 124 || code === 9) line.separators++
      index++
      continue
    }
    const from = index
    while (index < text.length && isLetter(text, index, text.charCodeAt(index))) index++
    const size = index - from
    if (size < 2) continue
    const capital = isCapital(text, from)
    line.words++
    if (capital && isCapital(text, index - 1)) line.capitals++
    if (size >= MIN_LONG_WORD_LETTERS) {
      line.long++
      if (capital) line.longCapital++
    }
    if (size <= 4 && !capital && AUXILIARY_VERBS.has(text.slice(from, index))) line.verbs++
    if (index < MAX_LANGUAGE_CHARACTERS && size <= 6 && !capital) {
      const word = text.slice(from, index)
      if (GERMAN.has(word)) german++
      if (ENGLISH.has(word)) english++
    }
  }
  endLine(text.length)
  return { markNames: german < MIN_GERMAN_WORDS || german <= english, headings }
}

export function isInRanges(ranges: readonly CapitalRange[], offset: number): boolean {
  return ranges.some(({ start, end }) => offset >= start && offset < end)
}

interface CapitalLine {
  words: number
  /** words in capitals only */
  capitals: number
  long: number
  longCapital: number
  separators: number
  /** auxiliary verbs in lower case: headings write them with a capital */
  verbs: number
}

function emptyLine(): CapitalLine {
  return { words: 0, capitals: 0, long: 0, longCapital: 0, separators: 0, verbs: 0 }
}

function isHeadingLine({ words, capitals, long, longCapital, separators, verbs }: CapitalLine): boolean {
  if (words >= 2 && capitals === words) return true
  if (verbs > 0) return false
  if (words < MIN_HEADING_WORDS || long === 0) return false
  const isList = separators > 0 && words / (separators + 1) <= MAX_LISTED_WORDS
  return !isList && long >= MIN_HEADING_WORDS && longCapital >= MIN_CAPITAL_FRACTION * long
}

function isLetter(text: string, index: number, code: number): boolean {
  if (code < 128) return (code >= 97 && code <= 122) || (code >= 65 && code <= 90)
  const letter = text.charAt(index)
  return letter.toLowerCase() !== letter.toUpperCase()
}

function isCapital(text: string, index: number): boolean {
  const code = text.charCodeAt(index)
  if (code < 128) return code >= 65 && code <= 90
  const letter = text.charAt(index)
  return letter !== letter.toLowerCase()
}
