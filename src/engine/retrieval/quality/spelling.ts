/** Shorter words have too many neighbours, nearly all of which are different words. */
const MIN_WORD_LENGTH = 5
const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
const LATIN_WORD = /^[a-z]+$/
/** Minimum letters of each half of a word that was written together. */
const MIN_HALF_LENGTH = 4

/** Spellings one mistake away from a word in lower case: an extra, missing or wrong letter, or two letters swapped. */
export function generateMisspellings(word: string): string[] {
  if (word.length < MIN_WORD_LENGTH || !LATIN_WORD.test(word)) return []
  const found = new Set<string>()
  for (let index = 0; index <= word.length; index++) {
    const before = word.slice(0, index)
    const rest = word.slice(index + 1)
    for (const letter of LETTERS) found.add(`${before}${letter}${word.slice(index)}`)
    if (index === word.length) break
    found.add(`${before}${rest}`)
    for (const letter of LETTERS) found.add(`${before}${letter}${rest}`)
    if (index + 1 < word.length) found.add(`${before}${word[index + 1]}${word[index]}${word.slice(index + 2)}`)
  }
  found.delete(word)
  return [...found]
}

/** Both halves of a word at each position where it may be two words. */
export function splitHalves(word: string): [string, string][] {
  const halves: [string, string][] = []
  for (let index = MIN_HALF_LENGTH; index <= word.length - MIN_HALF_LENGTH; index++)
    halves.push([word.slice(0, index), word.slice(index)])
  return halves
}

/** Minimum length of words in which two mistakes are accepted. */
const MIN_LONG_WORD_LENGTH = 7
/** Minimum fraction of a word, and minimum letters, that two of its forms share at the beginning. */
const MIN_COMMON_START_FRACTION = 0.6
const MIN_COMMON_START_LENGTH = 5

const DIGIT = /\p{N}/u

/** Whether two terms look like two forms of one word, or like one with a spelling mistake or two. */
export function looksLike(one: string, other: string): boolean {
  if (one === other) return true
  if (one[0] !== other[0]) return false
  // Codes and numbers that differ refer to different things.
  if (DIGIT.test(one) || DIGIT.test(other)) return false
  const shorter = Math.min(one.length, other.length)
  const longer = Math.max(one.length, other.length)
  const start = countCommonStart(one, other)
  if (start >= MIN_COMMON_START_LENGTH && start >= MIN_COMMON_START_FRACTION * longer) return true
  if (shorter < MIN_WORD_LENGTH - 1) return false
  const allowed = shorter >= MIN_LONG_WORD_LENGTH ? 2 : 1
  return longer - shorter <= allowed && countMistakes(one, other, allowed) <= allowed
}

function countCommonStart(one: string, other: string): number {
  let index = 0
  while (index < one.length && index < other.length && one[index] === other[index]) index++
  return index
}

/**
 * Optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours.
 *
 * @param max counting stops above this, with `max + 1`
 */
function countMistakes(one: string, other: string, max: number): number {
  let beforePrevious: number[] = []
  let previous = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let i = 1; i <= one.length; i++) {
    const row = [i]
    for (let j = 1; j <= other.length; j++) {
      const differs = one[i - 1] === other[j - 1] ? 0 : 1
      let distance = Math.min((previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (previous[j - 1] ?? 0) + differs)
      if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1])
        distance = Math.min(distance, (beforePrevious[j - 2] ?? 0) + 1)
      row.push(distance)
    }
    if (Math.min(...row) > max) return max + 1
    beforePrevious = previous
    previous = row
  }
  return previous[other.length] ?? max + 1
}

const MIN_PART_LENGTH = 4
const MIN_REST_LENGTH = 3

/** Whether one word begins or ends the other: `Kaution`, `Mietkaution`. */
export function isPart(one: string, other: string): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one]
  return (
    short.length >= MIN_PART_LENGTH &&
    long.length >= short.length + MIN_REST_LENGTH &&
    (long.startsWith(short) || long.endsWith(short))
  )
}

const HAN = /^\p{Script=Han}{1,2}$/u

/** Whether two terms of Chinese characters share one. */
export function sharesCharacter(one: string, other: string): boolean {
  return HAN.test(one) && HAN.test(other) && [...one].some((character) => other.includes(character))
}
