import type { Lease } from '../base/leases.js'
import type { DocumentRow } from '../rows/documents.js'
import type { JobRow } from '../rows/jobs.js'

/** A job with the document it compiles. */
export interface Work {
  job: JobRow
  document: DocumentRow
  /** held while the job is worked at; a publication by who has lost it is refused */
  lease?: Lease
}

/** A job whose nodes are in the store, on its way to publication. */
export interface Built extends Work {
  versionKey: number
  nodes: { key: number; title: string; text: string }[]
}
