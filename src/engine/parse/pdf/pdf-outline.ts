import { headingNumber, isWorded } from '../heading-numbers.js'
import { impliedHeadings, lettersOf, type StyledBlock } from '../implied-headings.js'
import type { PdfBlock } from './pdf-blocks.js'
import type { Contents } from './pdf-contents.js'
import { type Bookmark, bodySize } from './pdf-headings.js'

/**
 * Maximal and minimal length of a heading relative to its entry in the contents; a shorter heading continues in the
 * next line.
 */
const LONGER = 1.6
const SHORTER = 0.6

/**
 * Marks headings that neither size nor number reveals: bold, in capitals, or listed in the table of contents. Changes
 * the type of their blocks; existing headings get a level that fits the others.
 */
export function markImplied(
  blocks: PdfBlock[],
  contents: Contents,
  bookmarks: readonly Bookmark[],
  baseLevel: number,
): void {
  const body = bodySize(blocks)
  const listed = placesOf(blocks, contents)
  const marked = bookmarks.map(({ title }) => lettersOf(title))
  const styled = blocks.map((block, place): StyledBlock => {
    const level = listed.get(place)
    const isPart = isPartOf(lettersOf(block.text), marked)
    const isContents = contents.pages.has(block.pageNumber) && level === undefined
    return {
      text: block.text,
      stands:
        !isContents &&
        !isPart &&
        !block.turned &&
        block.lineCount <= 3 &&
        (block.cells !== true || isWorded(headingNumber(block.text))) &&
        (block.type === 'paragraph' || block.type === 'heading'),
      size: block.size / body,
      bold: block.look?.bold === true,
      italic: block.look?.italic === true,
      underlined: false,
      isOther: block.type === 'list' || block.type === 'table',
      ...(level === undefined ? {} : { listed: level }),
    }
  })
  const levels = impliedHeadings(styled)
  let above: { key: string; level: number } | undefined
  for (const [place, block] of blocks.entries()) {
    const level = levels.get(place)
    if (level === undefined && block.type !== 'heading') continue
    const key = lettersOf(block.text)
    if (level === undefined && (key === above?.key || contents.pages.has(block.pageNumber))) {
      // a running chapter head, or a line of the table of contents
      block.type = 'paragraph'
      delete block.level
      continue
    }
    block.type = 'heading'
    if (level !== undefined) block.level = baseLevel + level - 1
    else if (levels.size > 0) block.level = above?.level ?? baseLevel
    above = { key, level: block.level ?? baseLevel }
  }
}

/**
 * Locates the blocks that the entries of the contents name, each after the previous one; returns levels by block index.
 */
function placesOf(blocks: readonly PdfBlock[], { pages, entries }: Contents): Map<number, number> {
  const places = new Map<number, number>()
  const keys = blocks.map((block) => (pages.has(block.pageNumber) || block.lineCount > 3 ? '' : lettersOf(block.text)))
  const last = Math.max(0, ...pages)
  let from = blocks.findIndex((block) => block.pageNumber > last)
  for (const { key, level } of entries) {
    const at = keys.findIndex((found, place) => place >= from && found.length >= 3 && agrees(found, key))
    if (at === -1) continue
    places.set(at, level)
    from = at + 1
  }
  return places
}

/** Whether a text is only the first line of a title that a bookmark has in full. */
function isPartOf(key: string, marked: readonly string[]): boolean {
  return key.length >= 10 && marked.some((title) => title.length > key.length && title.includes(key))
}

function agrees(found: string, key: string): boolean {
  if (found === key) return true
  if (found.startsWith(key)) return key.length >= 6 && found.length <= key.length * LONGER
  // a title after the name of the company
  if (found.endsWith(key)) return key.length >= 12 && found.length <= key.length * 2
  return found.length >= Math.max(6, key.length * SHORTER) && key.startsWith(found)
}
