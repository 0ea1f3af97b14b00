import type { DocumentRow } from '../rows/documents.js'
import type { JobRow } from '../rows/jobs.js'

/** A job with the document it compiles. */
export interface Work {
  /** as it was claimed: its claim is asked by every write of who works on it */
  job: JobRow
  document: DocumentRow
}

/** A job whose nodes are in the store, on its way to publication. */
export interface Built extends Work {
  versionKey: number
  nodes: { key: number; title: string; text: string }[]
  /** pages of it are to be read in pictures once it is published */
  pagesWait: boolean
}
