import type { DocumentRow } from '../../store/rows/documents.js'
import type { JobRow } from '../../store/rows/jobs.js'

/** A job with the document it compiles. */
export interface CompileWork {
  /** as it was claimed: every write of its worker checks the claim */
  job: JobRow
  document: DocumentRow
}

/** A job whose nodes are stored, before its publication. */
export interface BuiltWork extends CompileWork {
  versionKey: number
  nodes: { key: number; title: string; text: string }[]
  /** pages remain to be read from pictures once it is published */
  hasRemainingPages: boolean
}
