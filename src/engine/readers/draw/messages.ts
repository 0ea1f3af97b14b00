import type { BoundingBox } from '../../store/compiled.js'
import type { RecognisedPage } from '../../store/recognised-pages.js'
import type { FileChunkRequest } from '../file-feed.js'
import type { TargetText } from '../marks/find-text.js'

/** What to draw: a picture given as bytes, a page of a PDF, or a region of the page. */
export type PreviewRequest = (
  | { of: 'picture'; bytes: Uint8Array }
  | { of: 'page'; filename: string; page: number; box?: BoundingBox }
) & {
  /** Maximal length of the longer side, in pixels; nothing is enlarged. */
  maxSide: number
  as: 'image/jpeg' | 'image/png'
}

export interface PreviewImage {
  bytes: Uint8Array
  contentType: PreviewRequest['as']
  width: number
  height: number
}

/** Texts to locate on a page of a PDF. */
export interface MarkRequest {
  filename: string
  page: number
  /** Texts that may match in part, such as a line that was recognised with small differences. */
  wanted: readonly TargetText[]
  /** Texts that must match exactly: rows of a table that began on an earlier page. */
  exactly: readonly TargetText[]
  /** What OCR recognised on the page. */
  read?: RecognisedPage
}

/** Locations of texts: a box for each of their lines. Lengths in points of the page as it is shown. */
export interface PageMarks {
  width: number
  height: number
  boxes: BoundingBox[]
}

/** Parent to child, one at a time. */
export type DrawRequest = { drawing: PreviewRequest } | { marking: MarkRequest }

/** Child to parent. */
export type DrawReport =
  | FileChunkRequest
  | { kind: 'ready' }
  | { kind: 'drawn'; drawn: PreviewImage }
  | { kind: 'marked'; marks: PageMarks }
  /** `spent`: the decoder may be broken, so the process must be replaced. */
  | { kind: 'failed'; reason: 'malformed' | 'too-large'; message: string; spent: boolean }
