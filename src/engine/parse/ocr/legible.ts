/** With fewer words a page is not judged. */
const MIN_WORDS = 20
const MIN_LETTERS = 60
/** In any language a third to a half of the letters of Latin script are vowels; with a broken encoding few are. */
const MIN_VOWELS = 0.22
/** Maximal fraction of characters that occur in no text: unassigned in Unicode, or private to a font. */
const MAX_MEANINGLESS = 0.15
/** `(cid:43)` stands for a letter that the file does not map to Unicode. */
const MAX_NUMBERED = 0.3

const MEANINGLESS = /[\p{Co}\p{Cn}\ufffd\u0001-\u0008\u000e-\u001f\u0080-\u009f]/gu
const LATIN_WORD = /(?<![\p{L}\p{N}])\p{Script=Latin}{3,20}(?![\p{L}\p{N}])/gu
const VOWEL = /[aeiouyýÿàáâãäåæèéêëìíîïòóôõöøùúûüāēīōūąęįųăœıěůőű]/giu

/**
 * Whether the text of a page can be what a reader sees. Fonts without a map to Unicode yield letters of another
 * alphabet, no letters, or letters in wrong positions.
 */
export function isLegible(text: string): boolean {
  const letters = text.replace(/\s+/g, '')
  if (letters.length < MIN_LETTERS) return true
  if (countOf(letters, MEANINGLESS) > letters.length * MAX_MEANINGLESS) return false
  const numbered = letters.match(/\(cid:\d{1,5}\)/g) ?? []
  if (numbered.join('').length > letters.length * MAX_NUMBERED) return false
  const words = text.match(LATIN_WORD) ?? []
  if (words.length < MIN_WORDS) return true
  const spelled = words.join('')
  return countOf(spelled, VOWEL) >= spelled.length * MIN_VOWELS
}

function countOf(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0
}
