import type { BoundingBox } from '../compiled.js'
import type { FileQuestion } from '../file-feed.js'
import type { Wanted } from '../marks/find-text.js'
import type { RecognisedPage } from '../ocr/pages-read.js'

/** What is to be drawn: a picture by its bytes, or a page of a PDF, or a part of it. */
export type Drawing = (
  | { of: 'picture'; bytes: Uint8Array }
  | { of: 'page'; filename: string; page: number; box?: BoundingBox }
) & {
  /** pixels of its longer side at most; it is never made larger than it is */
  maxSide: number
  as: 'image/jpeg' | 'image/png'
}

export interface Drawn {
  bytes: Uint8Array
  contentType: Drawing['as']
  width: number
  height: number
}

/** Texts of which it is asked where they stand on a page of a PDF. */
export interface Marking {
  filename: string
  page: number
  /** what may stand there in part, such as a line of a text that was read a little differently */
  wanted: readonly Wanted[]
  /** what may stand there whole or not at all: rows of a table that began on a page before */
  exactly: readonly Wanted[]
  /** the page as it was read in a picture */
  read?: RecognisedPage
}

/** Where texts stand: a box for each line of them. Lengths in points of the page as it is shown. */
export interface Marks {
  width: number
  height: number
  boxes: BoundingBox[]
}

/** Parent to child, one at a time. */
export type DrawRequest = { drawing: Drawing } | { marking: Marking }

/** Child to parent. */
export type DrawReport =
  | FileQuestion
  | { kind: 'ready' }
  | { kind: 'drawn'; drawn: Drawn }
  | { kind: 'marked'; marks: Marks }
  /** `spent`: what read it is broken, and is not used again */
  | { kind: 'failed'; reason: 'malformed' | 'too-large'; message: string; spent: boolean }
