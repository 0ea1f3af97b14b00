import { headingNumber, isWorded } from '../heading-numbers.js'
import { impliedHeadings, lettersOf, type StyledBlock } from '../implied-headings.js'
import type { PdfBlock } from './pdf-blocks.js'
import type { Contents } from './pdf-contents.js'
import { type Bookmark, bodySize } from './pdf-headings.js'

/** A heading may say more than its entry in the contents, or less where it goes on in the next line. */
const LONGER = 1.6
const SHORTER = 0.6

/**
 * Headings that neither size nor number tells: bold, in capitals, or named by the list of contents. Blocks that are
 * headings change their type; those that are headings already get a level that fits the others.
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
      // the running head of a chapter, or a line of the contents
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

/** The blocks that entries of the contents name, each the first behind the one before. */
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

/** The first line of a title that a bookmark has whole. */
function isPartOf(key: string, marked: readonly string[]): boolean {
  return key.length >= 10 && marked.some((title) => title.length > key.length && title.includes(key))
}

function agrees(found: string, key: string): boolean {
  if (found === key) return true
  if (found.startsWith(key)) return key.length >= 6 && found.length <= key.length * LONGER
  // a title below the name of the company
  if (found.endsWith(key)) return key.length >= 12 && found.length <= key.length * 2
  return found.length >= Math.max(6, key.length * SHORTER) && key.startsWith(found)
}
