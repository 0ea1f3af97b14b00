import { headingNumber, isWorded } from './heading-numbers.js'
import { impliedHeadings, type StyledBlock } from './implied-headings.js'
import type { PageArea } from './markup/page-areas.js'
import type { Block } from './parsed.js'

/** Style of a block: numbers of its letters; spaces between them count where that is cheaper. */
export interface Look {
  letters: number
  bold: number
  italic: number
  underlined: number
  /** in links */
  linked: number
  /** pairs of a size in points and its number of letters */
  sizes: number[]
  /** web pages: area of the page that contains the block */
  area?: PageArea
}

/** A page with more than one heading per this many characters needs no implied ones. */
const CHARACTERS_PER_HEADING = 10_000
/** Fraction of styled letters from which a line counts as bold, italic or underlined. */
const MOST = 0.9
/** Maximum number of sizes that are recorded for a block. */
const MAX_SIZES = 16

export function emptyLook(): Look {
  return { letters: 0, bold: 0, italic: 0, underlined: 0, linked: 0, sizes: [] }
}

/** Adds letters of a size to the style of their block. */
export function addSize({ sizes }: Look, size: number, letters: number): void {
  for (let at = 0; at < sizes.length; at += 2) {
    if (sizes[at] !== size) continue
    sizes[at + 1] = (sizes[at + 1] ?? 0) + letters
    return
  }
  if (sizes.length < MAX_SIZES * 2) sizes.push(size, letters)
}

/** Adds the letters, links, area and sizes of a part to the style of the block that contains it. */
export function addLook(whole: Look, part: Look): void {
  whole.letters += part.letters
  whole.linked += part.linked
  if (whole.area === undefined && part.area !== undefined) whole.area = part.area
  for (let at = 0; at < part.sizes.length; at += 2) addSize(whole, part.sizes[at] ?? 0, part.sizes[at + 1] ?? 0)
}

/**
 * Marks the headings of a document that marks none itself, such as filings and exported documents. Changes `blocks` in
 * place.
 *
 * @param looks styles of the blocks; a block without one is no heading
 * @param isListed whether a table of contents links to the block with an index
 */
export function outlineBlocks(
  blocks: Block[],
  looks: ReadonlyMap<Block, Look>,
  isListed: (place: number) => boolean,
): void {
  const length = blocks.reduce((sum, block) => sum + block.text.length, 0)
  const headings = blocks.filter((block) => block.type === 'heading').length
  if (headings > 0 && length / headings < CHARACTERS_PER_HEADING) return
  const body = bodySize(looks.values())
  const styled = blocks.map((block, place) => styledBlock(block, looks.get(block), body, isListed(place)))
  for (const [place, level] of impliedHeadings(styled)) {
    const block = blocks[place]
    if (block === undefined || block.type === 'heading') continue
    blocks[place] = {
      type: 'heading',
      text: styled[place]?.text ?? block.text,
      level: headings > 0 ? Math.min(6, level + 1) : level,
    }
  }
}

function styledBlock(block: Block, look: Look | undefined, body: number, listed: boolean): StyledBlock {
  // A title next to its number is laid out as a table of one row.
  const row =
    block.type === 'table' && block.metadata?.rowCount === 1
      ? block.text.replaceAll('|', ' ').replace(/\s+/g, ' ').trim()
      : undefined
  const worded = row !== undefined && row.length < 300 && isWorded(headingNumber(row))
  const letters = Math.max(1, look?.letters ?? 0)
  return {
    text: worded ? row : block.text,
    stands: worded || (block.type === 'paragraph' && look !== undefined && look.linked < letters * 0.5),
    size: look === undefined ? 1 : sizeOf(look) / body,
    bold: look !== undefined && look.bold >= letters * MOST,
    italic: look !== undefined && look.italic >= letters * MOST,
    underlined: look !== undefined && look.underlined >= letters * MOST,
    isOther: block.type !== 'paragraph' && !worded,
    ...(listed ? { listed: 1 } : {}),
  }
}

function sizeOf({ sizes }: Look): number {
  let best = 12
  let most = 0
  for (let at = 0; at < sizes.length; at += 2) {
    const letters = sizes[at + 1] ?? 0
    if (letters <= most) continue
    most = letters
    best = sizes[at] ?? best
  }
  return best
}

/** The font size of most letters of a document. */
function bodySize(looks: Iterable<Look>): number {
  const sums = new Map<number, number>()
  for (const { sizes } of looks)
    for (let at = 0; at < sizes.length; at += 2) {
      const size = sizes[at] ?? 0
      sums.set(size, (sums.get(size) ?? 0) + (sizes[at + 1] ?? 0))
    }
  let best = 12
  let most = 0
  for (const [size, letters] of sums) {
    if (letters <= most) continue
    most = letters
    best = size
  }
  return best
}
