/** A Han or Kana character carries about as much as 0.6 of an English word (CMRC against SQuAD passage lengths). */
const WORDS_PER_WIDE_CHARACTER = 0.6

/** A run without spaces counts as one word per this many characters: Thai, base64, long addresses. */
const MAX_RUN_LENGTH = 24

/** Offsets of the words of a text, and the number of words before each. */
export interface WordOffsets {
  /** offset of each word's first unit */
  starts: number[]
  /** offset just past each word */
  ends: number[]
  /** words before each word, and one more entry: the total */
  wordsBefore: number[]
}

/** Counts the words of a text; see `buildWordTable`. */
export function countWords(text: string): number {
  let total = 0
  forEachWord(text, (_start, _end, weight) => {
    total += weight
  })
  return total
}

/** Lists all words of a text with their offsets. Takes linear time, whatever the text. */
export function buildWordTable(text: string): WordOffsets {
  const table: WordOffsets = { starts: [], ends: [], wordsBefore: [] }
  let total = 0
  forEachWord(text, (start, end, weight) => {
    table.starts.push(start)
    table.ends.push(end)
    table.wordsBefore.push(total)
    total += weight
  })
  table.wordsBefore.push(total)
  return table
}

function forEachWord(text: string, emit: (start: number, end: number, weight: number) => void): void {
  let start = -1
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const wide = isWide(code)
    if (start !== -1 && (wide || isSpace(code) || (i - start >= MAX_RUN_LENGTH && !isLowSurrogate(code)))) {
      emit(start, i, 1)
      start = -1
    }
    if (wide) {
      const end = code >= 0xd840 && code <= 0xd8bf && i + 1 < text.length ? i + 2 : i + 1
      emit(i, end, WORDS_PER_WIDE_CHARACTER)
      i = end - 1
    } else if (start === -1 && !isSpace(code)) {
      start = i
    }
  }
  if (start !== -1) emit(start, text.length, 1)
}

function isSpace(code: number): boolean {
  if (code <= 0x20) return true
  return code === 0xa0 || code === 0x3000 || (code >= 0x2000 && code <= 0x200b) || code === 0x2028 || code === 0x2029
}

/** Han, Kana and the first halves of the Han characters outside the basic plane. */
function isWide(code: number): boolean {
  if (code < 0x3041) return false
  if (code <= 0x30ff || (code >= 0x3400 && code <= 0x9fff)) return true
  return (code >= 0xf900 && code <= 0xfaff) || (code >= 0xff66 && code <= 0xff9d) || (code >= 0xd840 && code <= 0xd8bf)
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff
}
