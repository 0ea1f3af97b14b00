import type { Citation, EvidenceBundle, EvidenceItem, EvidenceState } from '../../contract/gateway/queries.js'
import { newId } from '../../lib/ids.js'
import type { Features } from './rerank.js'
import type { PassageRow } from './store.js'

/** A passage that ranking kept. Scores are 0 to 1. */
export interface RankedPassage {
  passage: PassageRow
  final: number
  retrieval: number
  rerank?: number
  features?: Features
  /** where research mode found it: outline node, and what the summaries of range and document scored */
  navigation?: Record<string, unknown>
}

export function toEvidenceItem({ passage, final, retrieval, rerank }: RankedPassage): EvidenceItem {
  const score = share(final)
  return {
    nodeId: passage.id,
    text: passage.body,
    score,
    scores: {
      retrieval: share(retrieval),
      ...(rerank === undefined ? {} : { rerank: share(rerank) }),
      final: score,
    },
    freshness: 'fresh',
    citations: [toCitation(passage)],
    conflicts: [],
    metadata: {
      title: passage.title,
      documentTitle: passage.document_title,
      filename: passage.filename,
      nodeKind: passage.kind,
      ordinal: passage.ordinal,
    },
  }
}

function toCitation(passage: PassageRow): Citation {
  const sectionPath: string[] = JSON.parse(passage.section)
  return {
    documentAssetId: passage.document_id,
    documentVersion: passage.version,
    artifactHash: passage.artifact_hash,
    ...(passage.page === null ? {} : { pageNumber: passage.page }),
    sectionPath,
    startOffset: passage.start_offset,
    endOffset: passage.end_offset,
  }
}

/** The bundle of a query: what it used, and what it lacked. */
export function makeBundle(
  query: string,
  traceId: string,
  state: EvidenceState,
  items: EvidenceItem[],
  uncovered: string[],
): EvidenceBundle {
  const missing = state === 'not-enough-evidence' || state === 'partial'
  return {
    id: newId(),
    query,
    traceId,
    createdAt: new Date().toISOString(),
    state,
    items,
    missingEvidence: missing
      ? [
          {
            reason: 'not-retrieved',
            text:
              uncovered.length === 0
                ? 'no passage answers the question closely enough'
                : `no passage was found for: ${uncovered.join(', ')}`,
            metadata: { terms: uncovered },
          },
        ]
      : [],
  }
}

function share(value: number): number {
  return Number.isFinite(value) ? Math.round(Math.min(1, Math.max(0, value)) * 10_000) / 10_000 : 0
}
