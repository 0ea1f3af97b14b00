import { isRecord, toNonEmptyString } from '../../lib/json/values.js'
import type { SentenceSpan } from '../../lib/text/sentences.js'
import { stripThoughts } from '../../lib/text/thoughts.js'
import { ttyLine } from '../terminal.js'
import { createWidthFunction } from '../text-width.js'

/** A passage of the evidence as shown to people and scripts. */
export interface ShownEvidence {
  /** Its citation number in the answer, from 1. */
  number: number
  text: string
  score: number | undefined
  filename: string
  /** Slug of its space, in answers over several. */
  space: string | undefined
  section: string[]
  page: number | undefined
  documentId: string | undefined
  version: number | undefined
  nodeId: string | undefined
  /** Range of the passage in the text of the document. */
  range: SentenceSpan | undefined
  freshness: string | undefined
  /** The document's own date. */
  dated: string | undefined
  /** Address of the web page from which the document was read. */
  address: string | undefined
  reason: EvidenceReason | undefined
  /** State of the document's local file, such as `changed` or `gone`. */
  file: string | undefined
}

/** Parses the items of an evidence bundle; fields that another version of the service omits are empty. */
export function parseEvidence(bundle: unknown): ShownEvidence[] {
  const items = isRecord(bundle) && Array.isArray(bundle.items) ? bundle.items : []
  return items.map((item: unknown, index) => parseItem(item, index + 1))
}

function parseItem(value: unknown, number: number): ShownEvidence {
  const item = isRecord(value) ? value : {}
  const metadata = isRecord(item.metadata) ? item.metadata : {}
  const [first] = Array.isArray(item.citations) ? item.citations : []
  const citation = isRecord(first) ? first : {}
  const path = Array.isArray(citation.sectionPath) ? citation.sectionPath : []
  return {
    number,
    text: toNonEmptyString(item.text) ?? '',
    score: typeof item.score === 'number' ? item.score : undefined,
    filename:
      toNonEmptyString(metadata.filename) ??
      toNonEmptyString(metadata.documentTitle) ??
      toNonEmptyString(citation.documentAssetId) ??
      '?',
    space: toNonEmptyString(citation.knowledgeSpaceSlug),
    section: path.filter((part) => typeof part === 'string'),
    page: typeof citation.pageNumber === 'number' ? citation.pageNumber : undefined,
    documentId: toNonEmptyString(citation.documentAssetId),
    version: typeof citation.documentVersion === 'number' ? citation.documentVersion : undefined,
    nodeId: toNonEmptyString(item.nodeId),
    range: parseRange(citation),
    freshness: toNonEmptyString(item.freshness),
    dated: toNonEmptyString(metadata.documentDate),
    address: toNonEmptyString(citation.sourceUrl),
    reason: parseReason(metadata.why),
    file: toNonEmptyString(metadata.file),
  }
}

function parseRange({ startOffset, endOffset }: Record<string, unknown>): SentenceSpan | undefined {
  const hasRange = typeof startOffset === 'number' && typeof endOffset === 'number'
  return hasRange ? { start: startOffset, end: endOffset } : undefined
}

/** Why a passage was selected. */
interface EvidenceReason {
  /** How it was found: a key of `MATCH_LABELS`. */
  method: string
  /** Words of the question that it contains. */
  words: string[]
  /** Those of them that no earlier passage contains. */
  newWords: string[]
  /** Probability that the passage alone answers the question. */
  confidence: number | undefined
}

function parseReason(value: unknown): EvidenceReason | undefined {
  if (!isRecord(value)) return undefined
  const { by, words, adds, confidence } = value
  const toTexts = (list: unknown): string[] =>
    Array.isArray(list) ? list.filter((word) => typeof word === 'string') : []
  return {
    method: toNonEmptyString(by) ?? 'words',
    words: toTexts(words),
    newWords: toTexts(adds),
    confidence: typeof confidence === 'number' ? confidence : undefined,
  }
}

const MATCH_LABELS: Readonly<Record<string, string>> = {
  words: 'found by its words',
  meaning: 'found by its meaning',
  'words-and-meaning': 'found by words and meaning',
  graph: 'found through the graph',
  'second-hop': 'found by a name in the best passages',
  sections: 'found in its section',
}

/**
 * `found by its words: parking, cost (new: cost) · answers alone: 0.72`; `undefined` if the service does not report it.
 */
function formatReason({ reason }: ShownEvidence): string | undefined {
  if (reason === undefined) return undefined
  const { method, words, newWords, confidence } = reason
  const wordsText = words.length === 0 ? 'contains no word of the question' : words.join(', ')
  const isPart = newWords.length > 0 && newWords.length < words.length
  const newText = isPart ? ` (new: ${newWords.join(', ')})` : ''
  const confidenceText = confidence === undefined ? '' : ` · answers alone: ${confidence.toFixed(2)}`
  return ttyLine(`${MATCH_LABELS[method] ?? method}: ${wordsText}${newText}${confidenceText}`)
}

/**
 * The numbers of the evidence that an answer cites according to its metadata, since a quoted document may contain marks,
 * too. Uses the marks `[n]` of the text if another version of the service lists nothing.
 */
export function listCitedNumbers({ answer, metadata }: Omit<AnswerWithEvidence, 'evidence'>): ReadonlySet<unknown> {
  const parseMarks = () => [...stripThoughts(answer).matchAll(/\[(\d{1,3})\]/g)].map((match) => Number(match[1]))
  return new Set<unknown>(Array.isArray(metadata.cited) ? metadata.cited : parseMarks())
}

/** Selects the evidence that an answer cites. */
export function selectCitedEvidence(answer: AnswerWithEvidence): ShownEvidence[] {
  const numbers = listCitedNumbers(answer)
  return answer.evidence.filter((item) => numbers.has(item.number))
}

interface AnswerWithEvidence {
  answer: string
  metadata: Record<string, unknown>
  evidence: readonly ShownEvidence[]
}

/** The ranges of an answer's text that probably answer the question, in order. */
export function parseMarkedRanges({ quotation }: Record<string, unknown>): SentenceSpan[] {
  const blocks: unknown[] = isRecord(quotation) && Array.isArray(quotation.blocks) ? quotation.blocks : []
  const marks = blocks.flatMap((block): unknown[] => (isRecord(block) && Array.isArray(block.marks) ? block.marks : []))
  return marks.flatMap((mark) => {
    if (!isRecord(mark) || typeof mark.start !== 'number' || typeof mark.end !== 'number') return []
    return [{ start: mark.start, end: mark.end }]
  })
}

/**
 * ` [1] retention.md › Defaults p. 3 0.91`, with aligned columns; the slug of the space precedes the file name in
 * answers over several; below it the address of a web page and, with reasons,
 * the date and the reason of each passage.
 */
export async function formatCitations(
  evidence: readonly ShownEvidence[],
  { unicode, hasReasons = false }: { unicode: boolean; hasReasons?: boolean },
): Promise<string[]> {
  const separator = unicode ? ' › ' : ' > '
  const locations = evidence.map(
    ({ number, space, filename, section }) =>
      `[${number}] ${ttyLine([space === undefined ? filename : `${space}/${filename}`, ...section].join(separator))}`,
  )
  const pages = evidence.map((item) => (item.page === undefined ? '' : `p. ${item.page}`))
  const measureWidth = await createWidthFunction(locations)
  const locationWidth = Math.max(0, ...locations.map(measureWidth))
  const pageWidth = Math.max(0, ...pages.map((page) => page.length))
  return evidence.flatMap((item, index) => {
    const location = locations[index] ?? ''
    const gap = ' '.repeat(locationWidth - measureWidth(location))
    const page = pageWidth === 0 ? '' : `   ${(pages[index] ?? '').padEnd(pageWidth)}`
    const line = `  ${location}${gap}${page}   ${item.score === undefined ? '' : item.score.toFixed(2)}`.trimEnd()
    const details = [
      item.address === undefined ? undefined : ttyLine(item.address),
      hasReasons && item.dated !== undefined ? ttyLine(`as of ${item.dated.slice(0, 10)}`) : undefined,
      hasReasons ? formatReason(item) : undefined,
    ]
    return [line, ...details.flatMap((text) => (text === undefined ? [] : [`      ${text}`]))]
  })
}
