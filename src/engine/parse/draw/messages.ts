import type { BoundingBox } from '../compiled.js'

/** What is to be drawn: a picture by its bytes, or a page of a PDF, or a place on it. */
export type Drawing = (
  | { of: 'picture'; bytes: Uint8Array }
  | { of: 'page'; path: string; root?: string; filename: string; page: number; box?: BoundingBox }
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

/** Parent to child, one at a time. */
export interface DrawRequest {
  drawing: Drawing
}

/** Child to parent. */
export type DrawReport =
  | { kind: 'ready' }
  | { kind: 'drawn'; drawn: Drawn }
  /** `spent`: what read it is broken, and is not used again */
  | { kind: 'failed'; reason: 'malformed' | 'too-large'; message: string; spent: boolean }
