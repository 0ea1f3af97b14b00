const WORD_CLASSES = String.raw`\p{L}\p{M}\p{N}_`
const WORD = new RegExp(`[${WORD_CLASSES}]`, 'u')

/** The group of a whole-word expression that contains the match. */
const WORD_GROUP = 1

/** Whether no letter, digit or underscore is next to a range of a text (UTF-16 units). */
export function isWholeWord(text: string, { start, end }: { start: number; end: number }): boolean {
  const previous = [...text.slice(Math.max(0, start - 2), start)].at(-1) ?? ''
  const [next = ''] = text.slice(end, end + 2)
  return !WORD.test(previous) && !WORD.test(next)
}

/**
 * Restricts a valid expression of the RE2 syntax to matches without a letter, digit or underscore next to them, for
 * `findWholeWords`. The neighbours are part of the expression, so that a later alternative is tried when the first one
 * ends inside a word.
 */
export function toWholeWordExpression(source: string): string {
  return `(?:^|[^${WORD_CLASSES}])(${endQuotation(source)})(?:$|[^${WORD_CLASSES}])`
}

/** Ends a `\Q` that extends to the end of an expression, so that more can follow. */
function endQuotation(source: string): string {
  const last = [...source.matchAll(/\\Q.*?(\\E|$)|\\./gs)].at(-1)
  return last?.[0].startsWith('\\Q') && last[1] === '' ? `${source}\\E` : source
}

/** The part of a matcher of RE2 that finds ranges. */
interface RangeMatcher {
  find(start: number): boolean
  start(group?: number): number
  end(group?: number): number
}

/** The matches of a whole-word expression in a text, in order and without overlap, empty ones too. @param length of the text */
export function* findWholeWords(matcher: RangeMatcher, length: number): Generator<{ start: number; end: number }> {
  for (let offset = 0; offset <= length && matcher.find(offset); ) {
    const range = { start: matcher.start(WORD_GROUP), end: matcher.end(WORD_GROUP) }
    yield range
    // The next search starts at the neighbour, unless that finds the same empty match again.
    offset = range.end + (range.end === matcher.start() ? 1 : 0)
  }
}
