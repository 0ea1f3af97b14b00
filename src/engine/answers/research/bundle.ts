import type { EvidenceBundle } from '../../../contract/gateway/queries.js'
import { newId } from '../../../lib/ids.js'

/** Creates a bundle of evidence without a trace. */
export function createBundle(parts: Omit<EvidenceBundle, 'id' | 'createdAt'>, now: number): EvidenceBundle {
  const { query, state, items, missingEvidence } = parts
  return { id: newId(), query, createdAt: new Date(now).toISOString(), state, items, missingEvidence }
}
