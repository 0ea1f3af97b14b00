import { scopeOf } from '../rows/permissions.js'
import type { DocumentScope } from '../search/ports.js'
import type { Read } from '../storage/program.js'
import type { Admitted } from './admission.js'

/** What a reader may search in, where that is not the complete space. */
export interface ReadingScope {
  documents: DocumentScope
  /** published nodes in it */
  nodes: number
}

/** The documents that a reader may know of; nothing where these are all, which is the usual case. */
export function* readingScope({
  space,
  snapshot,
  subject,
}: Pick<Admitted, 'space' | 'snapshot' | 'subject'>): Read<ReadingScope | undefined> {
  return yield* scopeOf(space.key, { subject }, snapshot.headRevision)
}
