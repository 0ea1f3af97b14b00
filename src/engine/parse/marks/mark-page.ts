import type { Marking, Marks } from '../draw/messages.js'
import { ReadError } from '../limits.js'
import type { RecognisedPage } from '../ocr/pages-read.js'
import type { PlacedLetter } from '../render/page-letters.js'
import { openPages } from '../render/pdf-pages.js'
import { lineBoxes } from './boxes.js'
import { findTexts, lettersIn, type Wanted } from './find-text.js'
import { readLetters, shownSize } from './read-letters.js'

const ENDING = /^[\p{Pe}\p{Pf}\p{Pd}.,;:!?%"'…。、，：；！？]$/u

/** Locates texts on a page of a PDF: among its own characters, else in what OCR recognised on it. */
export async function markPage(file: Buffer, { filename, page, wanted, exactly, read }: Marking): Promise<Marks> {
  const pages = await openPages(file, filename)
  try {
    if (page > pages.count) throw new ReadError('malformed', `the file has no page ${page}`)
    const size = pages.size(page)
    const own = find(pages.letters(page), wanted, exactly)
    const seen = read === undefined ? [] : find(readLetters(read, size), wanted, exactly)
    return { ...size, boxes: lineBoxes(seen.length > own.length ? seen : own) }
  } finally {
    pages.close()
  }
}

/** Locates texts in a recognised picture. @returns undefined when its size is unknown */
export function markPicture(read: RecognisedPage, wanted: readonly Wanted[]): Marks | undefined {
  const size = shownSize(read)
  return size === undefined ? undefined : { ...size, boxes: lineBoxes(find(readLetters(read, size), wanted, [])) }
}

/** The characters that belong to the texts, in page order. */
function find(characters: PlacedLetter[], wanted: readonly Wanted[], exactly: readonly Wanted[]): PlacedLetter[] {
  const letters = lettersIn(characters.map(({ text }) => text))
  const found = findTexts(letters, wanted)
  for (const place of findTexts(letters, exactly, true)) found.add(place)
  let isAfter = false
  return characters.filter(({ text }, place) => {
    // punctuation after a word has no letters by which it could be found
    isAfter = found.has(place) || (isAfter && ENDING.test(text))
    return isAfter
  })
}
