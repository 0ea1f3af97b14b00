/** With fewer words a page is not judged. */
const MIN_WORDS = 20
const MIN_LETTERS = 60
/** In any language a third to a half of the letters of Latin script are vowels; with a broken encoding few are. */
const MIN_VOWEL_FRACTION = 0.22
/** Maximal fraction of characters that occur in no text: unassigned in Unicode, or private to a font. */
const MAX_MEANINGLESS_FRACTION = 0.15
/** `(cid:43)` stands for a letter that the file does not map to Unicode. */
const MAX_CID_FRACTION = 0.3

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
  if (countMatches(letters, MEANINGLESS) > letters.length * MAX_MEANINGLESS_FRACTION) return false
  const cidCodes = letters.match(/\(cid:\d{1,5}\)/g) ?? []
  if (cidCodes.join('').length > letters.length * MAX_CID_FRACTION) return false
  const words = text.match(LATIN_WORD) ?? []
  if (words.length < MIN_WORDS) return true
  const wordLetters = words.join('')
  return countMatches(wordLetters, VOWEL) >= wordLetters.length * MIN_VOWEL_FRACTION
}

function countMatches(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0
}
