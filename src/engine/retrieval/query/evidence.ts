import type { Citation, EvidenceItem } from '../../../contract/gateway/queries.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { ShownItem } from '../../store/compiled.js'
import { parseJsonCell } from '../../store/readable.js'
import type { PassageRow } from '../../store/rows/queries.js'
import type { CopyDocument } from './copies.js'
import type { Freshness } from './freshness.js'
import type { PassageFeatures } from './rerank.js'

/** Maximum number of documents with copies that an item names; it counts all. */
const MAX_COPY_DOCUMENTS = 20

/** A ranked passage. Scores are 0 to 1. */
export interface RankedPassage {
  passage: PassageRow
  final: number
  retrieval: number
  rerank?: number
  features?: PassageFeatures
  /** terms of the question that the passage or its title contains, in the order of the question */
  containedTerms?: readonly string[]
  /** whether only its vector matches the question */
  byMeaning?: boolean
  /** how it was reached: over a relation of the graph, or over a name that the best passages mention */
  byGraph?: 'graph' | 'second-hop'
  /** probability that it answers by itself, 0 to 1, when not computed from `features` alone */
  alone?: number
  /** other documents with a copy of the passage */
  alsoIn?: readonly CopyDocument[]
  /** where research mode found it: outline node, and the scores of the summaries of the range and document */
  navigation?: Record<string, unknown>
}

/**
 * Converts a ranked passage to an item of evidence.
 *
 * @param freshness of the passage's document; absent = unknown
 * @param why reason for its inclusion
 */
export function toEvidenceItem(
  { passage, final, retrieval, rerank, navigation, alsoIn }: RankedPassage,
  freshness?: Freshness,
  why?: InclusionReason,
): EvidenceItem {
  const score = toScore(final)
  return {
    nodeId: passage.id,
    text: passage.body,
    score,
    scores: {
      retrieval: toScore(retrieval),
      ...(rerank === undefined ? {} : { rerank: toScore(rerank) }),
      ...(freshness === undefined ? {} : { freshness: toScore(freshness.score) }),
      final: score,
    },
    freshness: freshness?.state ?? 'unknown',
    citations: [toCitation(passage)],
    conflicts: [],
    metadata: {
      title: passage.title,
      documentTitle: passage.document_title,
      filename: passage.filename,
      nodeKind: passage.kind,
      ordinal: passage.ordinal,
      storedAt: new Date(passage.published_at).toISOString(),
      ...omitUndefined({ documentDate: passage.document_date ?? undefined, author: passage.author ?? undefined }),
      ...toOriginMetadata(passage),
      ...toOcrMetadata(passage),
      ...(passage.transcript_by === null ? {} : { transcript: { by: String(passage.transcript_by) } }),
      ...(freshness?.file === undefined ? {} : { file: freshness.file }),
      ...omitUndefined({ navigation, why }),
      ...(alsoIn === undefined ? {} : { alsoIn: alsoIn.slice(0, MAX_COPY_DOCUMENTS), copies: alsoIn.length }),
    },
  }
}

/** Origin of a passage and its trust: uploaded by a user, or from an external source. */
function toOriginMetadata({
  source_id: sourceId,
  source_url: sourceUrl,
  external,
}: PassageRow): Record<string, unknown> {
  return {
    trust: external === 1 ? 'external' : 'uploaded',
    ...omitUndefined({ sourceId: sourceId ?? undefined }),
    ...(sourceUrl === null ? {} : { sourceUrl: String(sourceUrl) }),
  }
}

/** OCR confidence in percent: the lowest of its page and its pictures. */
function toOcrMetadata(passage: PassageRow): { ocr?: { confidence: number } } {
  const { page, ocr_pages: pages } = passage
  const pictureConfidences = getShownItems(passage).flatMap(({ ocr }) => ocr ?? [])
  const pageConfidence =
    pages === null || page === null ? undefined : new RegExp(`(?:^| )${page}:(\\d+)`).exec(String(pages))?.[1]
  const known = [...pictureConfidences, ...(pageConfidence === undefined ? [] : [Number(pageConfidence)])]
  return known.length === 0 ? {} : { ocr: { confidence: Math.min(...known) } }
}

function toCitation(passage: PassageRow): Citation {
  const sectionPath: string[] = parseJsonCell(passage.section)
  const items = getShownItems(passage).map(({ isStored: _, ocr: __, ...item }) => item)
  return {
    documentAssetId: passage.document_id,
    documentVersion: passage.version,
    artifactHash: passage.artifact_hash,
    ...omitUndefined({ pageNumber: passage.page ?? undefined }),
    sectionPath,
    startOffset: passage.start_offset,
    endOffset: passage.end_offset,
    ...toWebAddress(passage.source_url),
    ...(items.length === 0 ? {} : { items }),
  }
}

/** Metadata of a document contain whatever its uploader wrote: only the address of a web page becomes a link. */
function toWebAddress(address: string | null): { sourceUrl?: string } {
  return address !== null && URL.canParse(address) && /^https?:$/.test(new URL(address).protocol)
    ? { sourceUrl: address }
    : {}
}

function toScore(value: number): number {
  return Number.isFinite(value) ? Math.round(Math.min(1, Math.max(0, value)) * 10_000) / 10_000 : 0
}

/** Why a passage is in the evidence: `metadata.why` of its item. */
export interface InclusionReason {
  by: FoundBy
  /** words of the question that the passage or its headings contain, as the question spells them */
  words: string[]
  /** of these, the words that no earlier passage contains */
  adds: string[]
  /** probability, by its words, that it answers by itself, 0 to 1; absent when its text was not compared */
  confidence?: number
}

/** How a passage was found. */
export type FoundBy = 'words' | 'meaning' | 'words-and-meaning' | 'graph' | 'second-hop' | 'sections'

/** Tables, pictures and code blocks of a passage. */
export function getShownItems({ shows }: Pick<PassageRow, 'shows'>): ShownItem[] {
  return shows === null ? [] : parseJsonCell<ShownItem[]>(shows)
}

/** Counts compared candidates with a table, with a picture, and with a picture that is stored. */
export function countShownItems(candidates: Iterable<PassageRow>) {
  const counts = {
    multimodalCandidateCount: 0,
    imageCandidateCount: 0,
    tableCandidateCount: 0,
    visualCandidateCount: 0,
  }
  for (const passage of candidates) {
    const shown = getShownItems(passage)
    const hasTable = passage.kind === 'table' || shown.some(({ modality }) => modality === 'table')
    const pictures = shown.filter(({ modality }) => modality === 'image')
    if (hasTable) counts.tableCandidateCount++
    if (pictures.length > 0) counts.imageCandidateCount++
    if (pictures.some(({ isStored }) => isStored === true)) counts.visualCandidateCount++
    if (hasTable || shown.length > 0) counts.multimodalCandidateCount++
  }
  return counts
}
