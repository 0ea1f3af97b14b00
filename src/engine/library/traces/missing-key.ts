import { createHash } from 'node:crypto'
import type { MissingEvidence } from '../../../contract/gateway/queries.js'

/**
 * Key of a missing piece of evidence, from its content: `sha256:` and the lowercase hex SHA-256 of the UTF-8 JSON array
 * `[reason, expectedEvidenceId or null, text]`. Equal entries of a trace are one item; the same gap of another trace
 * has the same key and a separate review.
 */
export function toMissingItemKey(entry: Pick<MissingEvidence, 'reason' | 'expectedEvidenceId' | 'text'>): string {
  const content = JSON.stringify([entry.reason, entry.expectedEvidenceId ?? null, entry.text])
  return `sha256:${createHash('sha256').update(content).digest('hex')}`
}
