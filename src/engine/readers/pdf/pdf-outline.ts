import { hasKindWord, parseHeadingNumber } from '../heading-numbers.js'
import { findImpliedHeadings, type StyledBlock, toComparisonKey } from '../implied-headings.js'
import type { PdfBlock } from './pdf-blocks.js'
import type { Contents } from './pdf-contents.js'
import { type Bookmark, computeBodySize } from './pdf-headings.js'

/**
 * Maximal and minimal length of a heading relative to its entry in the contents; a shorter heading continues in the
 * next line.
 */
const MAX_LENGTH_RATIO = 1.6
const MIN_LENGTH_RATIO = 0.6

/**
 * Marks headings that neither size nor number reveals: bold, in capitals, or listed in the table of contents. Changes
 * the type of their blocks; existing headings get a level that fits the others.
 */
export function markImpliedHeadings(
  blocks: PdfBlock[],
  contents: Contents,
  bookmarks: readonly Bookmark[],
  baseLevel: number,
): void {
  const body = computeBodySize(blocks)
  const listedLevels = locateEntries(blocks, contents)
  const bookmarkKeys = bookmarks.map(({ title }) => toComparisonKey(title))
  const styled = blocks.map((block, index): StyledBlock => {
    const level = listedLevels.get(index)
    const isPart = isPartOfBookmark(toComparisonKey(block.text), bookmarkKeys)
    const isContents = contents.pages.has(block.pageNumber) && level === undefined
    return {
      text: block.text,
      isHeadingCandidate:
        !isContents &&
        !isPart &&
        !block.turned &&
        block.lineCount <= 3 &&
        (block.cells !== true || hasKindWord(parseHeadingNumber(block.text))) &&
        (block.type === 'paragraph' || block.type === 'heading'),
      size: block.size / body,
      bold: block.look?.bold === true,
      italic: block.look?.italic === true,
      underlined: false,
      isOther: block.type === 'list' || block.type === 'table',
      ...(level === undefined ? {} : { listed: level }),
    }
  })
  const levels = findImpliedHeadings(styled)
  let previousHeading: { key: string; level: number } | undefined
  for (const [index, block] of blocks.entries()) {
    const level = levels.get(index)
    if (level === undefined && block.type !== 'heading') continue
    const key = toComparisonKey(block.text)
    if (level === undefined && (key === previousHeading?.key || contents.pages.has(block.pageNumber))) {
      // a running chapter head, or a line of the table of contents
      block.type = 'paragraph'
      delete block.level
      continue
    }
    block.type = 'heading'
    if (level !== undefined) block.level = baseLevel + level - 1
    else if (levels.size > 0) block.level = previousHeading?.level ?? baseLevel
    previousHeading = { key, level: block.level ?? baseLevel }
  }
}

/**
 * Locates the blocks that the entries of the contents name, each after the previous one; returns levels by block index.
 */
function locateEntries(blocks: readonly PdfBlock[], { pages, entries }: Contents): Map<number, number> {
  const levels = new Map<number, number>()
  const keys = blocks.map((block) =>
    pages.has(block.pageNumber) || block.lineCount > 3 ? '' : toComparisonKey(block.text),
  )
  const last = Math.max(0, ...pages)
  let start = blocks.findIndex((block) => block.pageNumber > last)
  for (const { key, level } of entries) {
    const blockIndex = keys.findIndex((found, index) => index >= start && found.length >= 3 && matchesEntry(found, key))
    if (blockIndex === -1) continue
    levels.set(blockIndex, level)
    start = blockIndex + 1
  }
  return levels
}

/** Whether a text is only the first line of a title that a bookmark has in full. */
function isPartOfBookmark(key: string, bookmarkKeys: readonly string[]): boolean {
  return key.length >= 10 && bookmarkKeys.some((title) => title.length > key.length && title.includes(key))
}

function matchesEntry(found: string, key: string): boolean {
  if (found === key) return true
  if (found.startsWith(key)) return key.length >= 6 && found.length <= key.length * MAX_LENGTH_RATIO
  // a title after the name of the company
  if (found.endsWith(key)) return key.length >= 12 && found.length <= key.length * 2
  return found.length >= Math.max(6, key.length * MIN_LENGTH_RATIO) && key.startsWith(found)
}
