import { isRecord, toNonEmptyString } from '../../lib/json/values.js'
import type { QueryAnswer } from './ask.js'
import { listCitedNumbers, type ShownEvidence } from './evidence.js'

/** A passage in the JSON of an answer: every key is always present. */
export interface AnswerPassage {
  /** Number of its mark in the answer, such as 1 for `[1]`. */
  number: number
  /** Slug of its space in an answer over several spaces, else null. */
  space: string | null
  filename: string
  /** Headings above the passage, outermost first. */
  section: string[]
  page: number | null
  /** What the answer quotes of it; null if it quotes nothing, such as in an answer that a model wrote. */
  quote: string | null
  text: string
  score: number | null
  freshness: string | null
  documentAssetId: string | null
  documentVersion: number | null
  nodeId: string | null
  /** Range of the passage in the text of the document. */
  startOffset: number | null
  endOffset: number | null
  /** Address of the document: of its web page, or in the console. */
  link: string | null
}

/** Where links to documents lead. */
export interface DocumentLinkBase {
  /** of the service */
  url: string
  /** slug or id of the space of the question; absent for several spaces */
  space?: string | undefined
}

/**
 * The JSON value of `ks query --json`: `citations` are the passages that the answer cites, `evidence` the others that
 * were found.
 */
export function toAnswerJson(answer: QueryAnswer, console: DocumentLinkBase): object {
  const { answer: text, finishReason, requestedMode, resolvedMode, evidenceState, traceId, sessionId } = answer
  const { evidenceBundle: _, citations: __, ...metadata } = answer.metadata
  const cited = listCitedNumbers(answer)
  const passages = answer.evidence.map((item) => toPassage(item, answer, console))
  const bundle = isRecord(answer.evidenceBundle) ? answer.evidenceBundle : {}
  return {
    answer: text,
    finishReason,
    requestedMode: requestedMode ?? null,
    resolvedMode: resolvedMode ?? null,
    evidenceState: evidenceState ?? null,
    citations: passages.filter(({ number }) => cited.has(number)),
    evidence: passages.filter(({ number }) => !cited.has(number)),
    missingEvidence: Array.isArray(bundle.missingEvidence) ? bundle.missingEvidence : [],
    traceId,
    sessionId: sessionId ?? null,
    metadata,
  }
}

function toPassage(item: ShownEvidence, { answer, metadata }: QueryAnswer, console: DocumentLinkBase): AnswerPassage {
  const { number, filename, section, page, text, score, freshness, documentId, address, version, nodeId, range } = item
  const { url, space = item.space } = console
  return {
    number,
    space: item.space ?? null,
    filename,
    section,
    page: page ?? null,
    quote: findQuote(number, answer, metadata),
    text,
    score: score ?? null,
    freshness: freshness ?? null,
    documentAssetId: documentId ?? null,
    documentVersion: version ?? null,
    nodeId: nodeId ?? null,
    startOffset: range?.start ?? null,
    endOffset: range?.end ?? null,
    link:
      address ?? (documentId === undefined || space === undefined ? null : formatConsoleLink(documentId, url, space)),
  }
}

/** The blocks of the answer that are copied from a passage. */
function findQuote(number: number, answer: string, { quotation }: Record<string, unknown>): string | null {
  const blocks: unknown[] = isRecord(quotation) && Array.isArray(quotation.blocks) ? quotation.blocks : []
  const quotes = blocks.flatMap((block) => {
    if (!isRecord(block) || block.cited !== number) return []
    const { start, end } = block
    return typeof start === 'number' && typeof end === 'number' ? [answer.slice(start, end)] : []
  })
  return toNonEmptyString(quotes.join('\n\n')) ?? null
}

function formatConsoleLink(documentId: string, url: string, space: string): string {
  const path = `console/documents/${encodeURIComponent(documentId)}?space=${encodeURIComponent(space)}`
  return `${url.replace(/\/$/, '')}/${path}`
}
