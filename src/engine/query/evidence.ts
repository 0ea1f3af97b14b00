import type { Citation, EvidenceItem } from '../../contract/gateway/queries.js'
import { defined } from '../../lib/defined.js'
import type { PassageRow } from '../rows/queries.js'
import { fromCell } from '../storage/readable.js'
import type { Freshness } from './freshness.js'
import type { Features } from './rerank.js'
import { shownIn } from './shown.js'

/** A ranked passage. Scores are 0 to 1. */
export interface RankedPassage {
  passage: PassageRow
  final: number
  retrieval: number
  rerank?: number
  features?: Features
  /** terms of the question that the passage or its title contains, in the order of the question */
  held?: readonly string[]
  /** whether only its vector matches the question */
  byMeaning?: boolean
  /** how it was reached: over a relation of the graph, or over a name that the best passages mention */
  byGraph?: 'graph' | 'second-hop'
  /** probability that it answers by itself, 0 to 1, when not computed from `features` alone */
  alone?: number
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
  { passage, final, retrieval, rerank, navigation }: RankedPassage,
  freshness?: Freshness,
  why?: Why,
): EvidenceItem {
  const score = share(final)
  return {
    nodeId: passage.id,
    text: passage.body,
    score,
    scores: {
      retrieval: share(retrieval),
      ...(rerank === undefined ? {} : { rerank: share(rerank) }),
      ...(freshness === undefined ? {} : { freshness: share(freshness.score) }),
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
      ...defined({ documentDate: passage.document_date ?? undefined, author: passage.author ?? undefined }),
      ...originOf(passage),
      ...ocrOf(passage),
      ...(passage.transcript_by === null ? {} : { transcript: { by: String(passage.transcript_by) } }),
      ...(freshness?.file === undefined ? {} : { file: freshness.file }),
      ...defined({ navigation, why }),
    },
  }
}

/** Origin of a passage and its trust: uploaded by a user, or from an external source. */
function originOf({ source_id: sourceId, source_url: sourceUrl, external }: PassageRow): Record<string, unknown> {
  return {
    trust: external === 1 ? 'external' : 'uploaded',
    ...defined({ sourceId: sourceId ?? undefined }),
    ...(sourceUrl === null ? {} : { sourceUrl: String(sourceUrl) }),
  }
}

/** OCR confidence in percent: the lowest of its page and its pictures. */
function ocrOf(passage: PassageRow): { ocr?: { confidence: number } } {
  const { page, ocr_pages: pages } = passage
  const ofPictures = shownIn(passage).flatMap(({ ocr }) => ocr ?? [])
  const ofPage =
    pages === null || page === null ? undefined : new RegExp(`(?:^| )${page}:(\\d+)`).exec(String(pages))?.[1]
  const known = [...ofPictures, ...(ofPage === undefined ? [] : [Number(ofPage)])]
  return known.length === 0 ? {} : { ocr: { confidence: Math.min(...known) } }
}

function toCitation(passage: PassageRow): Citation {
  const sectionPath: string[] = fromCell(passage.section)
  const items = shownIn(passage).map(({ isStored: _, ocr: __, ...item }) => item)
  return {
    documentAssetId: passage.document_id,
    documentVersion: passage.version,
    artifactHash: passage.artifact_hash,
    ...defined({ pageNumber: passage.page ?? undefined }),
    sectionPath,
    startOffset: passage.start_offset,
    endOffset: passage.end_offset,
    ...webAddress(passage.source_url),
    ...(items.length === 0 ? {} : { items }),
  }
}

/** Metadata of a document contain whatever its uploader wrote: only the address of a web page becomes a link. */
function webAddress(address: string | null): { sourceUrl?: string } {
  return address !== null && URL.canParse(address) && /^https?:$/.test(new URL(address).protocol)
    ? { sourceUrl: address }
    : {}
}

function share(value: number): number {
  return Number.isFinite(value) ? Math.round(Math.min(1, Math.max(0, value)) * 10_000) / 10_000 : 0
}

/** Why a passage is in the evidence: `metadata.why` of its item. */
export interface Why {
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
