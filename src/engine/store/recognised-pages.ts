/** The languages to recognise, and the folder of the user's own language data. */
export interface OcrLanguages {
  codes: readonly string[]
  /** Languages of other scripts, tried when the confidence of `codes` is low. */
  others?: readonly string[]
  folder?: string
}

/** A recognised page as it is stored: small enough that those of a book fit into one message. */
export interface RecognisedPage {
  /** 1-based. */
  page: number
  /** In points: left, right, baseline (from the bottom), size; the text; the confidence of each word. */
  lines: RecognisedLine[]
  /** Ruled lines of a page whose text is in columns; absent on other pages. */
  ruled?: RuledLines
  /** Mean confidence of all words, in percent; 0 without words. */
  confidence: number
  /** Width and height in points, as recognised; absent for pages stored before it was recorded. */
  size?: [width: number, height: number]
  /** Degrees clockwise by which the page was rotated for OCR; absent: 0. */
  rotation?: number
  /** Key of a picture inside a document; absent for a page. */
  picture?: string
}

export type RecognisedLine = [
  left: number,
  right: number,
  y: number,
  size: number,
  text: string,
  confidences: number[],
  /** For each word: left, right, baseline and number of characters; only on pages whose text is in columns. */
  words?: number[],
]

/** Level and upright lines: position across their direction, start and end, in points as for text lines. */
interface RuledLines {
  level: RuledLine[]
  upright: RuledLine[]
  /** Slope of the text across the page; coordinates of words and lines are corrected for it. */
  tilt: number
}

export type RuledLine = [at: number, from: number, to: number]

/** How to recognise the pictures of one document in this run. */
export interface OcrRequest {
  languages: OcrLanguages
  /** Processor time; the page in progress is finished even beyond it. */
  budgetMs: number
  /** Pages recognised before; they are not recognised again. */
  known?: readonly RecognisedPage[]
}

/** Whether pages of a version are still waiting for OCR, according to its metadata. */
export function hasPendingPages({ ocr }: Record<string, unknown>): boolean {
  return typeof ocr === 'object' && ocr !== null && 'waiting' in ocr && Number(ocr.waiting) > 0
}
