const WORD = /[\p{L}\p{M}\p{N}_]/u

/** Whether no letter, digit or underscore is next to a range of a text (UTF-16 units). */
export function isWholeWord(text: string, { start, end }: { start: number; end: number }): boolean {
  const previous = [...text.slice(Math.max(0, start - 2), start)].at(-1) ?? ''
  const [next = ''] = text.slice(end, end + 2)
  return !WORD.test(previous) && !WORD.test(next)
}
