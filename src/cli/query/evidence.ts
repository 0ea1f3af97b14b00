import { isRecord, toNonEmptyString } from '../../lib/json/values.js'
import type { SentenceSpan } from '../../lib/text/sentences.js'
import { stripThoughts } from '../../lib/text/thoughts.js'
import { ttyLine } from '../terminal.js'
import { createWidthFunction } from '../text-width.js'

/** A passage of the evidence as shown to people. */
export interface ShownEvidence {
  /** Its citation number in the answer, from 1. */
  number: number
  text: string
  score: number | undefined
  filename: string
  section: string[]
  page: number | undefined
  documentId: string | undefined
  freshness: string | undefined
  /** The document's own date. */
  dated: string | undefined
  /** Address of the web page from which the document was read. */
  address: string | undefined
  why: EvidenceReason | undefined
  /** State of the document's local file. */
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
    section: path.filter((part) => typeof part === 'string'),
    page: typeof citation.pageNumber === 'number' ? citation.pageNumber : undefined,
    documentId: toNonEmptyString(citation.documentAssetId),
    freshness: toNonEmptyString(item.freshness),
    dated: toNonEmptyString(metadata.documentDate),
    address: toNonEmptyString(citation.sourceUrl),
    why: parseReason(metadata.why),
    file: toNonEmptyString(metadata.file),
  }
}

/** Why a passage was selected. */
interface EvidenceReason {
  by: string
  words: string[]
  adds: string[]
  confidence: number | undefined
}

function parseReason(value: unknown): EvidenceReason | undefined {
  if (!isRecord(value)) return undefined
  const { by, words, adds, confidence } = value
  const texts = (list: unknown): string[] =>
    Array.isArray(list) ? list.filter((word) => typeof word === 'string') : []
  return {
    by: toNonEmptyString(by) ?? 'words',
    words: texts(words),
    adds: texts(adds),
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
function formatReason({ why }: ShownEvidence): string | undefined {
  if (why === undefined) return undefined
  const { by, words, adds, confidence } = why
  const matchedText = words.length === 0 ? 'contains no word of the question' : words.join(', ')
  const isPart = adds.length > 0 && adds.length < words.length
  const more = isPart ? ` (new: ${adds.join(', ')})` : ''
  const confidenceText = confidence === undefined ? '' : ` · answers alone: ${confidence.toFixed(2)}`
  return ttyLine(`${MATCH_LABELS[by] ?? by}: ${matchedText}${more}${confidenceText}`)
}

/**
 * Selects the evidence that an answer cites according to its metadata, since a quoted document may contain marks, too.
 * Uses the marks `[n]` of the text if another version of the service lists nothing.
 */
export function selectCitedEvidence({ answer, metadata, evidence }: AnswerWithEvidence): ShownEvidence[] {
  const marks = () => [...stripThoughts(answer).matchAll(/\[(\d{1,3})\]/g)].map((match) => Number(match[1]))
  const numbers = new Set<unknown>(Array.isArray(metadata.cited) ? metadata.cited : marks())
  return evidence.filter((item) => numbers.has(item.number))
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
 * ` [1] retention.md › Defaults p. 3 0.91`, with aligned columns; below it the address of a web page.
 *
 * @param withWhy also adds the date and why each passage was selected
 */
export async function formatCitations(
  evidence: readonly ShownEvidence[],
  unicode: boolean,
  withWhy = false,
): Promise<string[]> {
  const locations = evidence.map((item) => `[${item.number}] ${formatLocation(item, unicode)}`)
  const pages = evidence.map((item) => (item.page === undefined ? '' : `p. ${item.page}`))
  const width = await createWidthFunction(locations)
  const locationWidth = Math.max(0, ...locations.map(width))
  const pageWidth = Math.max(0, ...pages.map((page) => page.length))
  return evidence.flatMap((item, index) => {
    const location = locations[index] ?? ''
    const gap = ' '.repeat(locationWidth - width(location))
    const page = pageWidth === 0 ? '' : `   ${(pages[index] ?? '').padEnd(pageWidth)}`
    const line = `  ${location}${gap}${page}   ${item.score === undefined ? '' : item.score.toFixed(2)}`.trimEnd()
    const details = [
      item.address === undefined ? undefined : ttyLine(item.address),
      withWhy && item.dated !== undefined ? ttyLine(`as of ${item.dated.slice(0, 10)}`) : undefined,
      withWhy ? formatReason(item) : undefined,
    ]
    return [line, ...details.flatMap((text) => (text === undefined ? [] : [`      ${text}`]))]
  })
}

function formatLocation(item: ShownEvidence, unicode: boolean): string {
  return ttyLine([item.filename, ...item.section].join(unicode ? ' › ' : ' > '))
}
