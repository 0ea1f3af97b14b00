import { isRecord } from '../../../lib/json/values.js'
import type { RecognisedPage } from '../../store/recognised-pages.js'
import type { PdfLine } from '../pdf/pdf-lines.js'

/** Version of the OCR; stored pages of another version are recognised again. */
export const OCR_ENGINE = 'tesseract-7.0.0/2'

/**
 * Limits for pictures that may contain no text. Lines below the confidence `line` are dropped. All text is dropped when
 * words of three or more letters with the confidence `word` have fewer than `letters` letters or a smaller fraction of
 * all letters than `fraction`, unless the picture has the confidence `picture`. Confidences in percent.
 */
const FALSE_TEXT_LIMITS = { line: 40, picture: 80, word: 60, letters: 10, fraction: 0.25 }

/** Removes what only looks like text, such as branches and bricks. */
export function removeFalseText(page: RecognisedPage): RecognisedPage {
  const lines = page.lines.filter(([, , , , , confidences]) => computeMean(confidences) >= FALSE_TEXT_LIMITS.line)
  if (page.confidence >= FALSE_TEXT_LIMITS.picture) return { ...page, lines }
  let letterCount = 0
  let confidentLetterCount = 0
  for (const [, , , , text, confidences] of page.lines) {
    const words = text.split(' ')
    for (const [index, word] of words.entries()) {
      const letters = word.match(/[\p{L}\p{N}]/gu)?.length ?? 0
      letterCount += letters
      // in a line without spaces between its words, each has the mean confidence
      const confidence = words.length === confidences.length ? (confidences[index] ?? 0) : computeMean(confidences)
      if (letters >= 3 && confidence >= FALSE_TEXT_LIMITS.word) confidentLetterCount += letters
    }
  }
  const isText =
    confidentLetterCount >= FALSE_TEXT_LIMITS.letters &&
    confidentLetterCount >= letterCount * FALSE_TEXT_LIMITS.fraction
  return isText ? { ...page, lines } : { ...page, lines: [], confidence: 0 }
}

function computeMean(numbers: readonly number[]): number {
  return numbers.reduce((sum, value) => sum + value, 0) / Math.max(1, numbers.length)
}

/** Converts to lines of a page, in reading order. */
export function toPdfLines({ lines }: RecognisedPage): PdfLine[] {
  return lines.map(([left, right, y, size, text, confidences]) => ({
    text,
    left,
    right,
    y,
    size,
    turned: false,
    confidences,
  }))
}

/** Parses stored pages. Invalid entries of a damaged store are left out and recognised again. */
export function parsePages(stored: unknown): RecognisedPage[] {
  return Array.isArray(stored) ? stored.filter(isPage) : []
}

/** Parses one stored page. @returns undefined when it is invalid */
export function parsePage(stored: unknown): RecognisedPage | undefined {
  return isPage(stored) ? stored : undefined
}

function isPage(value: unknown): value is RecognisedPage {
  return (
    isRecord(value) &&
    typeof value.page === 'number' &&
    typeof value.confidence === 'number' &&
    Array.isArray(value.lines) &&
    value.lines.every((line) => Array.isArray(line) && typeof line[4] === 'string' && Array.isArray(line[5])) &&
    (value.ruled === undefined || isRuled(value.ruled))
  )
}

function isRuled(value: unknown): boolean {
  return isRecord(value) && Array.isArray(value.level) && Array.isArray(value.upright) && typeof value.tilt === 'number'
}
