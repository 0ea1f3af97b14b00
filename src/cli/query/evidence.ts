import { isRecord, textOf } from '../../lib/json/values.js'
import type { Span } from '../../lib/text/sentences.js'
import { withoutThoughts } from '../../lib/text/thoughts.js'
import { ttyLine } from '../terminal.js'
import { widthOf } from '../text-width.js'

/** A passage of the evidence as shown to people. */
export interface Evidence {
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
  why: Why | undefined
  /** State of the document's local file. */
  file: string | undefined
}

/** Parses the items of an evidence bundle; fields that another version of the service omits are empty. */
export function readEvidence(bundle: unknown): Evidence[] {
  const items = isRecord(bundle) && Array.isArray(bundle.items) ? bundle.items : []
  return items.map((item: unknown, index) => readItem(item, index + 1))
}

function readItem(value: unknown, number: number): Evidence {
  const item = isRecord(value) ? value : {}
  const metadata = isRecord(item.metadata) ? item.metadata : {}
  const [first] = Array.isArray(item.citations) ? item.citations : []
  const citation = isRecord(first) ? first : {}
  const path = Array.isArray(citation.sectionPath) ? citation.sectionPath : []
  return {
    number,
    text: textOf(item.text) ?? '',
    score: typeof item.score === 'number' ? item.score : undefined,
    filename: textOf(metadata.filename) ?? textOf(metadata.documentTitle) ?? textOf(citation.documentAssetId) ?? '?',
    section: path.filter((part) => typeof part === 'string'),
    page: typeof citation.pageNumber === 'number' ? citation.pageNumber : undefined,
    documentId: textOf(citation.documentAssetId),
    freshness: textOf(item.freshness),
    dated: textOf(metadata.documentDate),
    address: textOf(citation.sourceUrl),
    why: readWhy(metadata.why),
    file: textOf(metadata.file),
  }
}

/** Why a passage was selected. */
interface Why {
  by: string
  words: string[]
  adds: string[]
  confidence: number | undefined
}

function readWhy(value: unknown): Why | undefined {
  if (!isRecord(value)) return undefined
  const { by, words, adds, confidence } = value
  const texts = (list: unknown): string[] => (Array.isArray(list) ? list.filter((one) => typeof one === 'string') : [])
  return {
    by: textOf(by) ?? 'words',
    words: texts(words),
    adds: texts(adds),
    confidence: typeof confidence === 'number' ? confidence : undefined,
  }
}

const FOUND_BY: Readonly<Record<string, string>> = {
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
function whyLine({ why }: Evidence): string | undefined {
  if (why === undefined) return undefined
  const { by, words, adds, confidence } = why
  const held = words.length === 0 ? 'contains no word of the question' : words.join(', ')
  const isPart = adds.length > 0 && adds.length < words.length
  const more = isPart ? ` (new: ${adds.join(', ')})` : ''
  const alone = confidence === undefined ? '' : ` · answers alone: ${confidence.toFixed(2)}`
  return ttyLine(`${FOUND_BY[by] ?? by}: ${held}${more}${alone}`)
}

/**
 * Selects the evidence that an answer cites according to its metadata, since a quoted document may contain marks, too.
 * Uses the marks `[n]` of the text if another version of the service lists nothing.
 */
export function citedEvidence({ answer, metadata, evidence }: AnswerWithEvidence): Evidence[] {
  const marks = () => [...withoutThoughts(answer).matchAll(/\[(\d{1,3})\]/g)].map((match) => Number(match[1]))
  const numbers = new Set<unknown>(Array.isArray(metadata.cited) ? metadata.cited : marks())
  return evidence.filter((item) => numbers.has(item.number))
}

interface AnswerWithEvidence {
  answer: string
  metadata: Record<string, unknown>
  evidence: readonly Evidence[]
}

/** The ranges of an answer's text that probably answer the question, in order. */
export function markedRanges({ quotation }: Record<string, unknown>): Span[] {
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
export async function citationLines(
  evidence: readonly Evidence[],
  unicode: boolean,
  withWhy = false,
): Promise<string[]> {
  const places = evidence.map((item) => `[${item.number}] ${placeOf(item, unicode)}`)
  const pages = evidence.map((item) => (item.page === undefined ? '' : `p. ${item.page}`))
  const width = await widthOf(places)
  const placeWidth = Math.max(0, ...places.map(width))
  const pageWidth = Math.max(0, ...pages.map((page) => page.length))
  return evidence.flatMap((item, index) => {
    const place = places[index] ?? ''
    const gap = ' '.repeat(placeWidth - width(place))
    const page = pageWidth === 0 ? '' : `   ${(pages[index] ?? '').padEnd(pageWidth)}`
    const line = `  ${place}${gap}${page}   ${item.score === undefined ? '' : item.score.toFixed(2)}`.trimEnd()
    const below = [
      item.address === undefined ? undefined : ttyLine(item.address),
      withWhy && item.dated !== undefined ? ttyLine(`as of ${item.dated.slice(0, 10)}`) : undefined,
      withWhy ? whyLine(item) : undefined,
    ]
    return [line, ...below.flatMap((text) => (text === undefined ? [] : [`      ${text}`]))]
  })
}

function placeOf(item: Evidence, unicode: boolean): string {
  return ttyLine([item.filename, ...item.section].join(unicode ? ' › ' : ' > '))
}
