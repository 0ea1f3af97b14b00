const TOKEN_PATTERN =
  /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|\p{Script=Thai}|[\p{L}\p{M}\p{N}]+/gu

/** All words of a question, including stop words: `when` and `where` distinguish two questions. */
export function splitWords(question: string): string[] {
  return question.normalize('NFKC').toLowerCase().match(TOKEN_PATTERN) ?? []
}

/** Overlap of the words of two questions, 0 to 1: the cosine of their word sets (Ochiai). */
export function computeWordOverlap(a: string, b: string): number {
  const [left, right] = [new Set(splitWords(a)), new Set(splitWords(b))]
  if (left.size === 0 || right.size === 0) return 0
  let sharedCount = 0
  for (const word of left) if (right.has(word)) sharedCount++
  return sharedCount / Math.sqrt(left.size * right.size)
}

/** Whether two questions differ only in case, spaces and punctuation. */
export function hasEqualWords(a: string, b: string): boolean {
  const [left, right] = [splitWords(a), splitWords(b)]
  return left.length > 0 && left.length === right.length && left.every((word, index) => word === right[index])
}

/** Cosine of two unit vectors, at least 0. */
export function computeClampedCosine(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length) return 0
  let sum = 0
  for (const [index, value] of a.entries()) sum += value * (b[index] ?? 0)
  return Math.max(0, Math.min(1, sum))
}
