/** Which languages are looked for, and where a user's own data of languages may lie. */
export interface OcrLanguages {
  codes: readonly string[]
  /** languages of other scripts, tried where what these read is doubtful */
  others?: readonly string[]
  folder?: string
}

/** A page that was read in a picture, as it is kept: so small that a book of them travels in one message. */
export interface RecognisedPage {
  /** 1-based */
  page: number
  /** in points: left, right, baseline (from the bottom), size; the words; how sure each of them is */
  lines: RecognisedLine[]
  /** what is ruled on a page whose text stands in columns; absent on others */
  ruled?: RuledLines
  /** of all its words, in per cent; 0 without words */
  confidence: number
  /** width and height of what was read in points, as it was read; absent in what was kept before this was told */
  size?: [width: number, height: number]
  /** degrees clockwise by which it was turned to be read; absent = none */
  rotation?: number
  /** what a picture inside a document is known by; absent for a page */
  picture?: string
}

export type RecognisedLine = [
  left: number,
  right: number,
  y: number,
  size: number,
  text: string,
  confidences: number[],
  /** of each word left, right, baseline and number of characters, on a page whose text stands in columns */
  words?: number[],
]

/** Level and upright lines, each as its place across its direction, from where and to where. Lengths in points, as of lines. */
interface RuledLines {
  level: RuledLine[]
  upright: RuledLine[]
  /** how far text falls in a point across the page, for which places of words and lines are set right */
  tilt: number
}

export type RuledLine = [at: number, from: number, to: number]

/** How pictures of one document are read this time. */
export interface OcrRequest {
  languages: OcrLanguages
  /** processor time for it; the page that is under way is read to its end */
  budgetMs: number
  /** pages read before, which are not read again */
  known?: readonly RecognisedPage[]
}

/** Whether pages of a version are still to be read in pictures, by what it says of itself. */
export function waitsForPages({ ocr }: Record<string, unknown>): boolean {
  return typeof ocr === 'object' && ocr !== null && 'waiting' in ocr && Number(ocr.waiting) > 0
}
