import { splitSentences } from '../../../../lib/text/sentences.js'
import { looksLikeHeader } from '../../../readers/index.js'

/** A part of a passage that can be quoted with its layout. Offsets are UTF-16 units in the passage. */
export interface QuotationUnit {
  kind: 'paragraph' | 'list' | 'row' | 'table'
  /** index of its block in the passage; the rows of one table and the windows of one paragraph share it */
  block: number
  start: number
  end: number
  text: string
  /** whether its block begins before it, or continues after it */
  isCut: { before: boolean; after: boolean }
  /** headings above it within the passage; empty without one */
  heading: string
  /** line that it depends on: the header row of its table, the line that introduces its list; empty without one */
  lead: string
}

interface PassageBlock {
  kind: 'paragraph' | 'list' | 'table' | 'heading'
  start: number
  end: number
  text: string
}

/** A longer paragraph is quoted in windows of complete sentences. */
const MAX_PARAGRAPH_CHARACTERS = 800
/** A longer table is quoted by its rows only. */
const MAX_TABLE_CHARACTERS = 420
const NOT_CUT = { before: false, after: false }
const MAX_HEADING_CHARACTERS = 110
const MAX_LEAD_CHARACTERS = 200
/** Minimum fraction of a block's lines with several cells for the block to be a table. */
const MIN_TABLE_FRACTION = 0.6
const MIN_LIST_FRACTION = 0.5
const CELL_BAR = /(?<=^|\s)\|(?=\s|$)/u
const RULE = /^[\s|:+=-]+$/u
const LIST_ENTRY = /^[ \t]*(?:[-*•‣–]|\d{1,3}[.)]|\([a-z\d]\))[ \t]+\S/u
const CLOSED = /[.;,!。；，！…]["'”’»)\]]*$/u
const QUESTION = /[?？؟]\s*$/u
const COLON = /[:：]\s*$/u
/** Scripts whose sentences end without a mark. */
const NO_STOPS = /[\p{Script=Thai}\p{Script=Lao}]/u
const BLANK_LINES = /\n[ \t]*\n\s*/gu
const YEAR = /^(?:1[5-9]|20)\d\d$/u

/** Splits a passage into its quotable units, in reading order. */
export function splitUnits(passage: string): QuotationUnit[] {
  const units: QuotationUnit[] = []
  let heading = ''
  let previous: PassageBlock | undefined
  for (const [index, block] of splitBlocks(passage).entries()) {
    if (block.kind === 'heading') {
      heading = previous?.kind === 'heading' ? `${heading} › ${block.text}` : block.text
    } else {
      const lead = previous !== undefined && isLead(previous) ? previous.text : ''
      units.push(...splitBlock(block, { block: index, heading, lead }))
    }
    previous = block
  }
  return units
}

function isLead({ kind, text }: PassageBlock): boolean {
  return kind === 'paragraph' && text.length <= MAX_LEAD_CHARACTERS && COLON.test(text)
}

function splitBlock(block: PassageBlock, context: Pick<QuotationUnit, 'block' | 'heading' | 'lead'>): QuotationUnit[] {
  const { kind, start, end, text } = block
  if (kind === 'table') return buildTableUnits(block, context)
  if (kind === 'list') return [{ ...context, kind: 'list', start, end, text, isCut: NOT_CUT }]
  return buildWindows(text).map((window) => ({
    ...context,
    kind: 'paragraph',
    start: start + window.start,
    end: start + window.end,
    text: text.slice(window.start, window.end),
    isCut: { before: window.start > 0, after: window.end < text.length },
  }))
}

/** Returns the complete text if it is short, else one window of consecutive sentences for each starting sentence. */
function buildWindows(text: string): { start: number; end: number }[] {
  if (text.length <= MAX_PARAGRAPH_CHARACTERS) return [{ start: 0, end: text.length }]
  const sentences = splitSentences(text)
  const windows: { start: number; end: number }[] = []
  for (const [index, { start, end: firstEnd }] of sentences.entries()) {
    // A longer sentence is not cut.
    const fitting = Math.max(
      0,
      sentences.slice(index).findLastIndex(({ end }) => end - start <= MAX_PARAGRAPH_CHARACTERS),
    )
    windows.push({ start, end: sentences[index + fitting]?.end ?? firstEnd })
    if (index + fitting + 1 >= sentences.length) break
  }
  return windows
}

function buildTableUnits(
  block: PassageBlock,
  context: Pick<QuotationUnit, 'block' | 'heading' | 'lead'>,
): QuotationUnit[] {
  const lines = splitTableLines(block)
  const cells = lines.map(({ text }) => splitCells(text).map((cell) => (YEAR.test(cell) ? 'year' : cell)))
  const header = looksLikeHeader(cells) ? lines[0] : undefined
  const rows = (header === undefined ? lines : lines.slice(1)).map(
    (line): QuotationUnit => ({ ...context, kind: 'row', ...line, lead: header?.text ?? context.lead, isCut: NOT_CUT }),
  )
  const { start, end, text } = block
  const isQuotable = text.length <= MAX_TABLE_CHARACTERS && rows.length > 1
  return isQuotable ? [...rows, { ...context, kind: 'table', start, end, text, isCut: NOT_CUT }] : rows
}

function splitTableLines({ text, start }: PassageBlock): Pick<QuotationUnit, 'start' | 'end' | 'text'>[] {
  return [...text.matchAll(/[^\n]+/gu)]
    .filter(([line]) => line.trim() !== '' && !RULE.test(line))
    .map(({ 0: line, index }) => ({ text: line, start: start + index, end: start + index + line.length }))
}

/** Returns the cells of a line of a table. */
export function splitCells(line: string): string[] {
  const trimmed = line.trim()
  const isFramed = trimmed.startsWith('|') && trimmed.endsWith('|') && trimmed.length > 1
  return (isFramed ? trimmed.slice(1, -1) : line).split(CELL_BAR).map((cell) => cell.trim())
}

function splitBlocks(passage: string): PassageBlock[] {
  const blocks: PassageBlock[] = []
  let from = 0
  const push = (to: number): void => {
    const raw = passage.slice(from, to)
    const text = raw.trim()
    const start = from + raw.indexOf(text)
    if (text !== '') blocks.push({ kind: detectBlockKind(text), start, end: start + text.length, text })
  }
  for (const { 0: gap, index } of passage.matchAll(BLANK_LINES)) {
    push(index)
    from = index + gap.length
  }
  push(passage.length)
  // The last block has nothing below it, so it cannot be a heading.
  for (const block of blocks.slice(0, -1))
    if (block.kind === 'paragraph' && looksLikeHeading(block.text)) block.kind = 'heading'
  return blocks
}

function detectBlockKind(text: string): 'paragraph' | 'list' | 'table' {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !RULE.test(line))
  if (lines.length < 2) return 'paragraph'
  const widths = lines.map((line) => splitCells(line).length)
  if ((widths[0] ?? 0) > 1 && widths.filter((width) => width > 1).length >= MIN_TABLE_FRACTION * lines.length)
    return 'table'
  return lines.filter((line) => LIST_ENTRY.test(line)).length >= MIN_LIST_FRACTION * lines.length ? 'list' : 'paragraph'
}

function looksLikeHeading(text: string): boolean {
  if (text.includes('\n') || text.length > MAX_HEADING_CHARACTERS || NO_STOPS.test(text)) return false
  return QUESTION.test(text) || !(CLOSED.test(text) || COLON.test(text))
}
