import type { DocumentScope } from '../../search/index.js'
import type { Read } from '../../store/program.js'
import { findReadableScope } from '../../store/rows/permissions.js'
import type { AdmittedQuery } from './admission.js'

/** The part of a space that a reader may search. */
export interface ReadingScope {
  documents: DocumentScope
  /** number of its published nodes */
  nodes: number
}

/** Finds the documents that a reader may know of; undefined when these are all documents, which is usual. */
export function* findReadingScope({
  space,
  snapshot,
  subject,
}: Pick<AdmittedQuery, 'space' | 'snapshot' | 'subject'>): Read<ReadingScope | undefined> {
  return yield* findReadableScope(space.key, { subject }, snapshot.headRevision)
}
