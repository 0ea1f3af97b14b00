import { toComparisonKey } from '../implied-headings.js'
import type { Block } from '../parsed.js'
import type { PdfBlock } from './pdf-blocks.js'

/** An entry of the outline that the file itself contains. */
export interface Bookmark {
  title: string
  /** 1 is the outermost. */
  level: number
  /** 1-based */
  page: number
  /** Baseline at which the section starts, when the file has it. */
  y?: number
}

/** Minimal size of a heading relative to the text. */
const HEADING_SIZE = 1.12
const MAX_HEADING_WORDS = 14
const MAX_HEADING_LEVELS = 4
/** When headings make up a larger fraction of a document, its sizes have another meaning. */
const MAX_HEADING_FRACTION = 0.15
const MAX_NUMBER_STEP = 3
/** `3 Method`, `3.1 Data`: a numbered heading may be as small as the text. `1. First` is more often a list item. */
const NUMBERED = /^(\d{1,2}(?:\.\d{1,2}){0,3})\.?\s+\p{Lu}/u
const NUMBERED_BY_FORM = /^(?:\d{1,2}|\d{1,2}(?:\.\d{1,2}){1,3}\.?)\s+\p{Lu}[^.;!?]{2,80}$/u

/** Detects headings by size or by number and changes the type of their blocks. */
export function markHeadings(blocks: PdfBlock[], baseLevel: number): void {
  const bodyTextSize = computeBodySize(blocks)
  const bySize = blocks.filter((block) => isHeading(block, bodyTextSize))
  const length = bySize.reduce((sum, block) => sum + block.text.length, 0)
  const total = blocks.reduce((sum, block) => sum + block.text.length, 0)
  if (length <= total * MAX_HEADING_FRACTION) {
    const sizes = [...new Set(bySize.map((block) => roundSize(block.size)))].sort((a, b) => b - a)
    for (const block of bySize) {
      block.type = 'heading'
      block.level = baseLevel + Math.min(MAX_HEADING_LEVELS - 1, sizes.indexOf(roundSize(block.size)))
    }
  }
  const levels = new Map<number, number>()
  for (const block of findNumberedHeadings(blocks, bodyTextSize)) {
    block.type = 'heading'
    block.level = baseLevel + countNumberParts(block)
    if (block.size >= bodyTextSize * HEADING_SIZE && !levels.has(roundSize(block.size)))
      levels.set(roundSize(block.size), block.level)
  }
  // `References` is set like `1 Introduction`, so it gets the same level.
  for (const block of bySize) {
    const level = NUMBERED.test(block.text) || block === bySize[0] ? undefined : levels.get(roundSize(block.size))
    if (block.type === 'heading' && level !== undefined) block.level = level
  }
}

/** Numbered headings, when their numbers rise through the document as in a table of contents. */
function findNumberedHeadings(blocks: PdfBlock[], bodyTextSize: number): PdfBlock[] {
  const candidates = blocks.filter((block) => {
    if (block.type === 'heading') return NUMBERED.test(block.text)
    if (block.type !== 'paragraph' || block.turned || block.lineCount > 1 || block.size < bodyTextSize * 0.98)
      return false
    return NUMBERED_BY_FORM.test(block.text) && block.text.split(' ').length <= MAX_HEADING_WORDS
  })
  const rising: PdfBlock[] = []
  let last: number[] = []
  for (const block of candidates) {
    const number = (NUMBERED.exec(block.text)?.[1] ?? '').split('.').map(Number)
    if (last.length > 0 && !isNextNumber(last, number)) continue
    rising.push(block)
    last = number
  }
  return rising.length >= 2 ? rising : []
}

/**
 * Whether a section number follows soon after another at some depth: 2.3 → 2.3.1, 2.4, 3. A few numbers may be missing
 * between them.
 */
function isNextNumber(last: number[], next: number[]): boolean {
  const depth = next.length - 1
  if (depth > last.length || !next.slice(0, depth).every((part, index) => part === last[index])) return false
  const step = (next[depth] ?? 0) - (last[depth] ?? 0)
  return step >= 1 && step <= MAX_NUMBER_STEP
}

function countNumberParts(block: PdfBlock): number {
  return (NUMBERED.exec(block.text)?.[1] ?? '').split('.').length
}

function isHeading(block: PdfBlock, bodyTextSize: number): boolean {
  if (block.type !== 'paragraph' || block.turned || block.lineCount > 3) return false
  if (block.size < bodyTextSize * HEADING_SIZE) return false
  if (!/\p{L}{2}/u.test(block.text) || /[.,;:]$/.test(block.text) || block.text.length > 200) return false
  return block.text.split(' ').length <= MAX_HEADING_WORDS
}

/** The size of most characters of blocks or lines, rounded to half points. */
export function computeBodySize(texts: readonly { text: string; size: number }[]): number {
  const counts = new Map<number, number>()
  let best = 0
  for (const { text, size: exactSize } of texts) {
    const size = roundSize(exactSize)
    const count = (counts.get(size) ?? 0) + text.length
    counts.set(size, count)
    if (count > (counts.get(best) ?? 0)) best = size
  }
  return best
}

function roundSize(size: number): number {
  return Math.round(size * 2) / 2
}

/**
 * Inserts the file's bookmarks among its blocks. A block with the same text as a bookmark becomes its heading; without
 * one, a silent heading opens the section at the position of the bookmark.
 */
export function insertBookmarks(blocks: PdfBlock[], bookmarks: Bookmark[]): Block[] {
  const byPage = new Map<number, Bookmark[]>()
  for (const bookmark of bookmarks) byPage.set(bookmark.page, [...(byPage.get(bookmark.page) ?? []), bookmark])
  const placed: Block[] = []
  let start = 0
  while (start < blocks.length) {
    const page = blocks[start]?.pageNumber ?? 0
    let end = start
    while (end < blocks.length && blocks[end]?.pageNumber === page) end++
    for (const [number, pageBookmarks] of byPage) {
      if (number >= page) break
      placed.push(...pageBookmarks.map(silentHeading))
      byPage.delete(number)
    }
    placed.push(...insertOnPage(blocks.slice(start, end), byPage.get(page) ?? []))
    byPage.delete(page)
    start = end
  }
  return placed
}

function insertOnPage(blocks: PdfBlock[], bookmarks: Bookmark[]): Block[] {
  const before = new Map<number, Bookmark[]>()
  let earliest = 0
  for (const bookmark of bookmarks) {
    const title = toComparisonKey(bookmark.title)
    let blockIndex = blocks.findIndex(
      (block, index) => index >= earliest && title !== '' && toComparisonKey(block.text) === title,
    )
    const block = blocks[blockIndex]
    if (block !== undefined) {
      block.type = 'heading'
      block.level = bookmark.level
      block.tocSource = 'bookmark'
      earliest = blockIndex + 1
      continue
    }
    const { y } = bookmark
    blockIndex =
      y === undefined ? earliest : blocks.findIndex((one, index) => index >= earliest && one.y <= y + one.size * 0.5)
    if (blockIndex === -1) blockIndex = y === undefined ? earliest : blocks.length
    before.set(blockIndex, [...(before.get(blockIndex) ?? []), bookmark])
    earliest = Math.max(earliest, blockIndex)
  }
  const placed: Block[] = []
  for (let index = 0; index <= blocks.length; index++) {
    for (const bookmark of before.get(index) ?? []) placed.push(silentHeading(bookmark))
    const block = blocks[index]
    if (block !== undefined) placed.push(block)
  }
  return placed
}

function silentHeading(bookmark: Bookmark): Block {
  return { type: 'heading', text: bookmark.title, level: bookmark.level, tocSource: 'bookmark', silent: true }
}
