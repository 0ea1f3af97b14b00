import type { RecognisedPage } from '../../store/recognised-pages.js'
import type { MarkRequest, PageMarks } from '../draw/messages.js'
import { ReadError } from '../limits.js'
import type { PlacedLetter } from '../render/page-letters.js'
import { openPages } from '../render/pdf-pages.js'
import { mergeIntoLineBoxes } from './boxes.js'
import { extractLetters, findTexts, type TargetText } from './find-text.js'
import { getShownSize, placeRecognisedLetters } from './read-letters.js'

const TRAILING_PUNCTUATION = /^[\p{Pe}\p{Pf}\p{Pd}.,;:!?%"'…。、，：；！？]$/u

/** Locates texts on a page of a PDF: among its own characters, else in what OCR recognised on it. */
export async function markPage(
  file: Buffer,
  { filename, page, wanted: request, exactly, read }: MarkRequest,
): Promise<PageMarks> {
  const pages = await openPages(file, filename)
  try {
    if (page > pages.count) throw new ReadError('malformed', `the file has no page ${page}`)
    const size = pages.size(page)
    const own = findCharacters(pages.letters(page), request, exactly)
    const recognised = read === undefined ? [] : findCharacters(placeRecognisedLetters(read, size), request, exactly)
    return { ...size, boxes: mergeIntoLineBoxes(recognised.length > own.length ? recognised : own) }
  } finally {
    pages.close()
  }
}

/** Locates texts in a recognised picture. @returns undefined when its size is unknown */
export function markPicture(read: RecognisedPage, request: readonly TargetText[]): PageMarks | undefined {
  const size = getShownSize(read)
  return size === undefined
    ? undefined
    : { ...size, boxes: mergeIntoLineBoxes(findCharacters(placeRecognisedLetters(read, size), request, [])) }
}

/** The characters that belong to the texts, in page order. */
function findCharacters(
  characters: PlacedLetter[],
  request: readonly TargetText[],
  exactly: readonly TargetText[],
): PlacedLetter[] {
  const letters = extractLetters(characters.map(({ text }) => text))
  const found = findTexts(letters, request)
  for (const index of findTexts(letters, exactly, 'exact')) found.add(index)
  let isIncluded = false
  return characters.filter(({ text }, index) => {
    // punctuation after a word has no letters by which it could be found
    isIncluded = found.has(index) || (isIncluded && TRAILING_PUNCTUATION.test(text))
    return isIncluded
  })
}
