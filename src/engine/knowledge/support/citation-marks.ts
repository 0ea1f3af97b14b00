/** `[1, 3]`, `[2-4]`, `[source 2]`, `【1】`: forms that models write instead of `[1]`. */
const OTHER_MARK = /^[[【]\s*(?:(?:passages?|sources?)\s+)?\d{1,3}(?:\s*[-–,;、，]\s*\d{1,3})*\s*[\]】]$/i
/** Beginning of such a mark. */
const PARTIAL_MARK = /^[[【]\s*(?:[ps][a-z]*\s*)?[\d\s\-–,;、，]*$/i
/** Includes the white space before it, which is removed with the mark. */
const OPENING = /\s*[[【]/
const MAX_MARK_CHARACTERS = 40
/** A range of this many passages or more is not a citation. */
const MIN_REJECTED_RANGE = 20

/**
 * Rewrites the citations of a streamed answer as `[1][3]`, the form that all readers of answers expect. Code is not
 * changed: there `[1, 2]` is a list.
 *
 * @param isGiven whether the model was given the passage with this number; other numbers are removed
 */
export function createCitationWriter(isGiven: (number: number) => boolean) {
  let buffer = ''
  let ticks = 0

  const countTicks = (text: string): string => {
    for (const character of text) if (character === '`') ticks++
    return text
  }

  /** Returns the text whose marks are complete; `isEnd` returns everything. */
  const flush = (isEnd: boolean): string => {
    let out = ''
    for (;;) {
      const position = buffer.search(OPENING)
      const end = position >= 0 ? position : isEnd ? buffer.length : buffer.trimEnd().length
      out += countTicks(buffer.slice(0, end))
      buffer = buffer.slice(end)
      if (position < 0) return out
      const opened = buffer.trimStart()
      const gap = buffer.slice(0, buffer.length - opened.length)
      const close = opened.search(/[\]】]/)
      if (close < 0 && !isEnd && opened.length < MAX_MARK_CHARACTERS && PARTIAL_MARK.test(opened)) return out
      // another opening may follow directly
      const mark = close < 0 || close >= MAX_MARK_CHARACTERS ? '' : opened.slice(0, close + 1)
      if (ticks % 2 === 0 && OTHER_MARK.test(mark)) {
        const numbers = parseMarkNumbers(mark).filter(isGiven)
        if (numbers.length > 0) out += gap + numbers.map((number) => `[${number}]`).join('')
        buffer = opened.slice(mark.length)
      } else {
        out += countTicks(buffer.slice(0, gap.length + 1))
        buffer = opened.slice(1)
      }
    }
  }

  return {
    take(text: string): string {
      buffer += text
      return flush(false)
    },
    /** Returns the buffered text at the end of the answer. */
    rest: (): string => flush(true),
  }
}

/** Numbers in a mark; none for a range that is too long. */
function parseMarkNumbers(mark: string): number[] {
  return mark.split(/[,;、，]/).flatMap((part) => {
    const [from = 0, to = from] = (part.match(/\d+/g) ?? []).map(Number)
    return to - from >= MIN_REJECTED_RANGE
      ? []
      : Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index)
  })
}
