import type { EvidenceBundle } from '../../../contract/gateway/queries.js'
import { newId } from '../../../lib/ids.js'

/** Creates a bundle of evidence without a trace. */
export function createBundle(parts: Omit<EvidenceBundle, 'id' | 'createdAt'>): EvidenceBundle {
  const { query, state, items, missingEvidence } = parts
  return { id: newId(), query, createdAt: new Date().toISOString(), state, items, missingEvidence }
}
