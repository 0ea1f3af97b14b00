import { omitUndefined } from '../../../lib/omit-undefined.js'
import { hasKindWord, parseHeadingNumber } from '../heading-numbers.js'
import type { Block } from '../parsed.js'
import { endsWithOrdinal, joinDropCaps, joinLines, startsWithOrdinal } from './join-lines.js'
import { continuesCode, formatCode } from './pdf-code.js'
import { combineLooks, type FontLook } from './pdf-fonts.js'
import type { PdfLine } from './pdf-lines.js'
import { toTableElements } from './table-blocks.js'

export interface PdfPage {
  /** 1-based */
  number: number
  lines: PdfLine[]
}

/** A paragraph of one page with what is needed to distinguish headings from text. */
export interface PdfBlock extends Block {
  pageNumber: number
  size: number
  /** Baseline of its first line, and the left end of that line. */
  y: number
  left?: number
  lineCount: number
  turned: boolean
  /** Confidences of words that were recognised in a picture. */
  confidences?: number[]
  /** Font style that all of its letters share. */
  look?: FontLook
  /** Label of the note that it is, and labels of the notes to which its words refer. */
  note?: string
  refers?: string[]
  /** One of its lines has pieces far from each other. */
  cells?: boolean
}

/** A list item that starts this far right of another, in text sizes, belongs to a nested list. */
const INDENT = 0.8
const MAX_INDENT = 8
/** A larger step between two baselines, relative to the usual step, ends a paragraph. */
const PARAGRAPH_STEP = 1.3
/** Sizes that differ by more than this fraction are different styles. */
const SIZE_TOLERANCE = 0.12
/** Up to this many characters next to a line are part of a formula, whatever their size. */
const SCRAP_LENGTH = 4
/** From this number of pages on, a line at the edge of this fraction of the pages is a running header or footer. */
const MIN_PAGES_FOR_RUNNING = 5
const MIN_RUNNING_FRACTION = 0.4
/** A line at the edge of this many pages in a row is the head of a chapter. */
const MIN_PAGES_IN_A_ROW = 4
/** Number of lines at the top and at the bottom of a page that may be running lines. */
const EDGE_LINES = 2

/** `Item 7. Legal matters` starts a block, even directly below another title. */
const MAX_TITLE_LENGTH = 120

const BULLET = /^[•◦▪‣●○■□·∙*–-]\s+/
const NUMBERED = /^(?:\(?(?:\d{1,3}|[a-z]|[ivx]{1,4})[.)])\s+\S/

/** Removes running headers, footers and page numbers. The first of each is kept, so that no words are lost. */
export function removeRunningLines(pages: PdfPage[]): void {
  if (pages.length < MIN_PAGES_FOR_RUNNING) return
  removeChapterHeads(pages)
  const counts = new Map<string, number>()
  for (const page of pages) {
    const keys = new Set(edgeLines(page).map((line) => runningKey(line)))
    for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  const seen = new Set<string>()
  for (const page of pages) {
    const removed = new Set<PdfLine>()
    for (const line of edgeLines(page)) {
      const key = runningKey(line)
      if ((counts.get(key) ?? 0) < Math.max(MIN_PAGES_FOR_RUNNING, pages.length * MIN_RUNNING_FRACTION)) continue
      if (seen.has(key)) removed.add(line)
      seen.add(key)
    }
    if (removed.size > 0) page.lines = page.lines.filter((line) => !removed.has(line))
  }
}

/**
 * Removes running chapter heads: lines at the same position of the edge on several pages in a row. The first one is
 * kept.
 */
function removeChapterHeads(pages: PdfPage[]): void {
  let previous = new Map<string, number>()
  const rows = pages.map((page) => {
    const runs = new Map<string, number>()
    for (const line of edgeLines(page)) {
      const key = `${runningKey(line)} ${Math.round(line.y / 3)}`
      if (/\p{L}{3}/u.test(key)) runs.set(key, (previous.get(key) ?? 0) + 1)
    }
    previous = runs
    return runs
  })
  const chapterHeads = new Set<string>()
  for (let index = pages.length - 1; index >= 0; index--) {
    const page = pages[index]
    if (page === undefined) continue
    const edges = new Set(edgeLines(page))
    page.lines = page.lines.filter((line) => {
      const key = `${runningKey(line)} ${Math.round(line.y / 3)}`
      const run = edges.has(line) ? (rows[index]?.get(key) ?? 0) : 0
      if (run >= MIN_PAGES_IN_A_ROW) chapterHeads.add(key)
      const isRemoved = run > 1 && chapterHeads.has(key)
      if (run === 1) chapterHeads.delete(key)
      return !isRemoved
    })
  }
}

function edgeLines(page: PdfPage): PdfLine[] {
  const lines = page.lines.filter((line) => line.table === undefined)
  if (lines.length <= 2 * EDGE_LINES) return lines
  const sorted = [...lines].sort((a, b) => b.y - a.y)
  return [...sorted.slice(0, EDGE_LINES), ...sorted.slice(-EDGE_LINES)]
}

function runningKey(line: PdfLine): string {
  return line.text.toLowerCase().replace(/\d+/g, '#')
}

/** Builds the paragraphs of a page, in reading order. */
export function pageBlocks(page: PdfPage, vocabulary: ReadonlySet<string>): PdfBlock[] {
  const lines = joinDropCaps(page.lines, vocabulary)
  const step = computeUsualStep(lines)
  const groups: PdfLine[][] = []
  let group: PdfLine[] = []
  for (const line of lines) {
    if (group.length > 0 && startsBlock(line, group, step)) {
      groups.push(group)
      group = []
    }
    group.push(line)
  }
  if (group.length > 0) groups.push(group)
  return mergeBullets(groups.flatMap((one) => toTableBlocks(one, page) ?? toBlock(one, page.number, vocabulary)))
}

/** The blocks of a group that is a table; undefined for other groups. */
function toTableBlocks(lines: readonly PdfLine[], page: PdfPage): PdfBlock[] | undefined {
  const [line] = lines
  if (line?.table === undefined) return undefined
  return toTableElements(line.table.found).map((block) => ({
    ...block,
    pageNumber: page.number,
    size: line.size,
    y: line.y,
    lineCount: line.table?.found.rows.length ?? 1,
    turned: false,
  }))
}

function toBlock(lines: PdfLine[], pageNumber: number, vocabulary: ReadonlySet<string>): PdfBlock {
  const code = formatCode(lines)
  let text = code ?? ''
  for (const line of code === undefined ? lines : [])
    text = text === '' ? line.text : joinLines(text, line.text, vocabulary)
  return {
    type: code !== undefined ? 'code' : BULLET.test(text) ? 'list' : 'paragraph',
    text,
    pageNumber,
    size: lines[0]?.size ?? 0,
    y: lines[0]?.y ?? 0,
    left: lines[0]?.left ?? 0,
    lineCount: lines.length,
    turned: lines[0]?.turned ?? false,
    ...toConfidenceFields(lines.flatMap(({ confidences = [] }) => confidences)),
    ...toNoteFields(lines),
    ...omitUndefined({
      look: lines.map(({ look }) => look).reduce(combineLooks),
      cells: lines.some(({ cells }) => cells === true) ? true : undefined,
    }),
  }
}

function toNoteFields(lines: readonly PdfLine[]): Pick<PdfBlock, 'note' | 'refers' | 'metadata'> {
  const refers = lines.flatMap((line) => line.refers ?? [])
  const note = lines[0]?.note?.label
  return {
    ...(refers.length === 0 ? {} : { refers }),
    ...(note === undefined ? {} : { note, metadata: { role: 'footnote' } }),
  }
}

/** Confidences of a recognised paragraph, in the order of its words. */
function toConfidenceFields(words: number[]): Pick<PdfBlock, 'confidences' | 'metadata'> {
  if (words.length === 0) return {}
  const confidence = Math.round(words.reduce((sum, word) => sum + word, 0) / words.length)
  return { confidences: words, metadata: { ocr: { confidence, words } } }
}

/** Merges neighbouring bullets into one list with the indentation of the page. */
function mergeBullets(blocks: PdfBlock[]): PdfBlock[] {
  const merged: PdfBlock[] = []
  let edges: number[] = []
  for (const block of blocks) {
    const last = merged[merged.length - 1]
    const left = block.left ?? 0
    if (last?.type === 'list' && block.type === 'list') {
      // an item left of all others closes the deeper levels
      edges = edges.filter((edge) => edge < left - INDENT * block.size)
      last.text += `\n${'  '.repeat(Math.min(edges.length, MAX_INDENT))}${block.text}`
      if (edges.length <= MAX_INDENT) edges.push(left)
      if (block.refers !== undefined) last.refers = [...(last.refers ?? []), ...block.refers]
      Object.assign(last, toConfidenceFields([...(last.confidences ?? []), ...(block.confidences ?? [])]))
    } else {
      merged.push(block)
      edges = [left]
    }
  }
  return merged
}

function startsBlock(line: PdfLine, group: PdfLine[], step: number): boolean {
  const last = group[group.length - 1]
  const first = group[0]
  if (last === undefined || first === undefined) return true
  if (line.table !== undefined || last.table !== undefined) return true
  if (line.note !== undefined || last.note !== undefined) return line.note?.begins !== false || last.note === undefined
  if (line.turned !== last.turned || line.code !== last.code) return true
  if (line.code === true) return !continuesCode(line, last)
  const drop = last.y - line.y
  const isScrap = Math.min(line.text.length, last.text.length) <= SCRAP_LENGTH && Math.abs(drop) < line.size
  const isResized = Math.abs(line.size - last.size) > SIZE_TOLERANCE * Math.max(line.size, last.size)
  if (isResized && !isScrap) return true
  if (BULLET.test(line.text)) return true
  if (!isScrap && (isBoldNextTo(line, last) || isBoldNextTo(last, line))) return true
  if (hasKindWord(parseHeadingNumber(line.text)) && line.text.length < MAX_TITLE_LENGTH && isTitleCase(line.text))
    return true
  const isSentenceEnd = /[.!?:;。！？]["'”’)\]]*$/.test(last.text) && !endsWithOrdinal(last.text, line.text)
  if (drop < -0.5 * line.size) return isSentenceEnd || !/^\p{Ll}/u.test(line.text)
  if (drop > Math.max(step, line.size) * PARAGRAPH_STEP) return true
  const isNumbered = NUMBERED.test(line.text) && !startsWithOrdinal(line.text, last.text)
  if (isNumbered && (isSentenceEnd || NUMBERED.test(first.text))) return true
  const isIndented = line.left - last.left > 0.8 * line.size && line.left - last.left < 6 * line.size
  if (isIndented && isSentenceEnd && group.length > 1) return true
  const right = Math.max(...group.slice(-6).map((groupLine) => groupLine.right))
  return (
    isSentenceEnd && group.length > 1 && right - last.right > 0.25 * (right - last.left) && /^\p{Lu}/u.test(line.text)
  )
}

function isTitleCase(text: string): boolean {
  return /^\p{Lu}\S*[\s\u00a0]+[\dIVXLCA-Z]+[.:)]?(?:[\s\u00a0]+[–—-]?[\s\u00a0]*[\p{Lu}[].*)?$/u.test(text)
}

/** A bold line next to one without any bold word is a heading, or that is the text below a heading. */
function isBoldNextTo(line: PdfLine, other: PdfLine): boolean {
  return line.look?.bold === true && other.look?.someBold === false
}

/** The most frequent step between two baselines on the page. */
function computeUsualStep(lines: PdfLine[]): number {
  const counts = new Map<number, number>()
  let best = 0
  let bestCount = 0
  for (let i = 1; i < lines.length; i++) {
    const drop = (lines[i - 1]?.y ?? 0) - (lines[i]?.y ?? 0)
    if (drop <= 0 || drop > 60) continue
    const rounded = Math.round(drop * 2) / 2
    const count = (counts.get(rounded) ?? 0) + 1
    counts.set(rounded, count)
    if (count > bestCount) {
      best = rounded
      bestCount = count
    }
  }
  return best
}
