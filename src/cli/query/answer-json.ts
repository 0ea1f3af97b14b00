import { isRecord, toNonEmptyString } from '../../lib/json/values.js'
import type { AnswerOutput, AnswerPassage } from '../json-output/answers.js'
import type { QueryAnswer } from './ask.js'
import { listCitedNumbers, type ShownEvidence } from './evidence.js'

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
export function toAnswerJson(answer: QueryAnswer, console: DocumentLinkBase): AnswerOutput {
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
