/** Locates text in a document by letters and digits only: spaces, punctuation and case may differ. */

const LETTER = /[\p{L}\p{M}\p{N}]/u

/** A text reduced to lower-case letters and digits, with the offset of each. */
export interface LetterText {
  letters: string
  /** UTF-16 offset in the original text of each code unit of `letters`. */
  offsets: number[]
}

export function toLetterText(text: string): LetterText {
  const offsets: number[] = []
  let letters = ''
  let offset = 0
  for (const character of text) {
    if (LETTER.test(character)) {
      const folded = character.normalize('NFKC').toLowerCase()
      letters += folded
      for (let i = 0; i < folded.length; i++) offsets.push(offset)
    }
    offset += character.length
  }
  return { letters, offsets }
}

/** A range of a document's text in UTF-16 offsets, end exclusive. */
export interface OffsetRange {
  start: number
  end: number
}

/** All ranges of a quote in a text. */
export function findQuoteRanges(quote: string, { letters, offsets }: LetterText): OffsetRange[] {
  const quoteLetters = toLetterText(quote).letters
  const ranges: OffsetRange[] = []
  if (quoteLetters === '') return ranges
  for (
    let index = letters.indexOf(quoteLetters);
    index >= 0;
    index = letters.indexOf(quoteLetters, index + quoteLetters.length)
  ) {
    ranges.push({ start: offsets[index] ?? 0, end: (offsets[index + quoteLetters.length - 1] ?? 0) + 1 })
  }
  return ranges
}

/** Minimum common fraction of the shorter range at which two ranges match. */
const MIN_OVERLAP_FRACTION = 0.5

export function overlaps(a: OffsetRange, b: OffsetRange): boolean {
  const common = Math.min(a.end, b.end) - Math.max(a.start, b.start)
  return common > 0 && common >= MIN_OVERLAP_FRACTION * Math.min(a.end - a.start, b.end - b.start)
}
