import { asReadError, decodePicture } from '../picture/picture.js'
import type { OcrBudget } from './budget.js'
import { isBlank } from './pdf-scans.js'
import { recogniser } from './recognise.js'
import type { Word } from './words.js'

/** Text of a picture inside a document. */
export interface PictureText {
  text: string
  /** lengths in pixels of the picture as it was read: upright, and enlarged where its text is small */
  words: Word[]
  /** of all words, in per cent; 0 without words */
  confidence: number
}

/**
 * Reads the text in a picture that stands in a document; the time counts for the budget of the document.
 *
 * @returns nothing when no time is left
 * @throws ReadError when the picture cannot be decoded
 */
export async function readPicture(
  bytes: Uint8Array,
  filename: string,
  budget: OcrBudget,
): Promise<PictureText | undefined> {
  if (!budget.hasTime()) return undefined
  const reader = await recogniser(budget.languages)
  try {
    const bitmap = decodePicture(reader, bytes, filename)
    if (isBlank(bitmap)) return { text: '', words: [], confidence: 0 }
    const { lines, confidence } = reader.read(bitmap)
    const text = lines.map(({ words }) => words.map((word) => word.text).join(' ')).join('\n')
    return { text, words: lines.flatMap(({ words }) => words), confidence }
  } catch (error) {
    throw asReadError(error, filename)
  } finally {
    reader.rest()
  }
}
