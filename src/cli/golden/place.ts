/** Locates text in a document by letters and digits only: spaces, punctuation and case may differ. */

const LETTER = /[\p{L}\p{M}\p{N}]/u

/** A text reduced to lower-case letters and digits, with the offset of each. */
export interface Letters {
  plain: string
  /** UTF-16 offset in the original text of each code unit of `letters`. */
  offsets: number[]
}

export function lettersOf(text: string): Letters {
  const offsets: number[] = []
  let plain = ''
  let offset = 0
  for (const character of text) {
    if (LETTER.test(character)) {
      const folded = character.normalize('NFKC').toLowerCase()
      plain += folded
      for (let i = 0; i < folded.length; i++) offsets.push(offset)
    }
    offset += character.length
  }
  return { plain, offsets }
}

/** A range of a document's text in UTF-16 offsets, end exclusive. */
export interface Range {
  start: number
  end: number
}

/** All ranges of a quote in a text. */
export function placesOf(quote: string, { plain, offsets }: Letters): Range[] {
  const wanted = lettersOf(quote).plain
  const found: Range[] = []
  if (wanted === '') return found
  for (let at = plain.indexOf(wanted); at >= 0; at = plain.indexOf(wanted, at + wanted.length)) {
    found.push({ start: offsets[at] ?? 0, end: (offsets[at + wanted.length - 1] ?? 0) + 1 })
  }
  return found
}

/** Minimum common fraction of the shorter range at which two ranges match. */
const HELD = 0.5

export function overlap(a: Range, b: Range): boolean {
  const common = Math.min(a.end, b.end) - Math.max(a.start, b.start)
  return common > 0 && common >= HELD * Math.min(a.end - a.start, b.end - b.start)
}
