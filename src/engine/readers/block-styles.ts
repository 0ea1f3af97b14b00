import { hasKindWord, parseHeadingNumber } from './heading-numbers.js'
import { findImpliedHeadings, type StyledBlock } from './implied-headings.js'
import type { PageArea } from './markup/page-areas.js'
import type { Block } from './parsed.js'

/** Style of a block: numbers of its letters; spaces between them count where that is cheaper. */
export interface BlockStyle {
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
const MIN_CHARACTERS_PER_HEADING = 10_000
/** Fraction of styled letters from which a line counts as bold, italic or underlined. */
const MIN_STYLED_FRACTION = 0.9
/** Maximum number of sizes that are recorded for a block. */
const MAX_SIZES = 16

export function createBlockStyle(): BlockStyle {
  return { letters: 0, bold: 0, italic: 0, underlined: 0, linked: 0, sizes: [] }
}

/** Adds letters of a size to the style of their block. */
export function addSize({ sizes }: BlockStyle, size: number, letters: number): void {
  for (let index = 0; index < sizes.length; index += 2) {
    if (sizes[index] !== size) continue
    sizes[index + 1] = (sizes[index + 1] ?? 0) + letters
    return
  }
  if (sizes.length < MAX_SIZES * 2) sizes.push(size, letters)
}

/** Adds the letters, links, area and sizes of a part to the style of the block that contains it. */
export function addStyle(target: BlockStyle, part: BlockStyle): void {
  target.letters += part.letters
  target.linked += part.linked
  if (target.area === undefined && part.area !== undefined) target.area = part.area
  for (let index = 0; index < part.sizes.length; index += 2)
    addSize(target, part.sizes[index] ?? 0, part.sizes[index + 1] ?? 0)
}

/**
 * Marks the headings of a document that marks none itself, such as filings and exported documents. Changes `blocks` in
 * place.
 *
 * @param styles styles of the blocks; a block without one is no heading
 * @param isListed whether a table of contents links to the block with an index
 */
export function markImpliedHeadings(
  blocks: Block[],
  styles: ReadonlyMap<Block, BlockStyle>,
  isListed: (index: number) => boolean,
): void {
  const length = blocks.reduce((sum, block) => sum + block.text.length, 0)
  const headings = blocks.filter((block) => block.type === 'heading').length
  if (headings > 0 && length / headings < MIN_CHARACTERS_PER_HEADING) return
  const bodySize = findDominantSize(styles.values())
  const styled = blocks.map(
    (block, index): StyledBlock => ({
      ...toStyledBlock(block, styles.get(block), bodySize),
      ...(isListed(index) ? { listed: 1 } : {}),
    }),
  )
  for (const [index, level] of findImpliedHeadings(styled)) {
    const block = blocks[index]
    if (block === undefined || block.type === 'heading') continue
    blocks[index] = {
      type: 'heading',
      text: styled[index]?.text ?? block.text,
      level: headings > 0 ? Math.min(6, level + 1) : level,
    }
  }
}

function toStyledBlock(block: Block, style: BlockStyle | undefined, bodySize: number): StyledBlock {
  // A title next to its number is laid out as a table of one row.
  const rowText =
    block.type === 'table' && block.metadata?.rowCount === 1
      ? block.text.replaceAll('|', ' ').replace(/\s+/g, ' ').trim()
      : undefined
  const isNumberedRow = rowText !== undefined && rowText.length < 300 && hasKindWord(parseHeadingNumber(rowText))
  const letters = Math.max(1, style?.letters ?? 0)
  return {
    text: isNumberedRow ? rowText : block.text,
    isHeadingCandidate:
      isNumberedRow || (block.type === 'paragraph' && style !== undefined && style.linked < letters * 0.5),
    size: style === undefined ? 1 : findDominantSize([style]) / bodySize,
    bold: style !== undefined && style.bold >= letters * MIN_STYLED_FRACTION,
    italic: style !== undefined && style.italic >= letters * MIN_STYLED_FRACTION,
    underlined: style !== undefined && style.underlined >= letters * MIN_STYLED_FRACTION,
    isOther: block.type !== 'paragraph' && !isNumberedRow,
  }
}

/** The font size of most letters of some blocks. */
function findDominantSize(styles: Iterable<BlockStyle>): number {
  const sums = new Map<number, number>()
  for (const { sizes } of styles)
    for (let index = 0; index < sizes.length; index += 2) {
      const size = sizes[index] ?? 0
      sums.set(size, (sums.get(size) ?? 0) + (sizes[index + 1] ?? 0))
    }
  let dominantSize = 12
  let maxLetters = 0
  for (const [size, letters] of sums) {
    if (letters <= maxLetters) continue
    maxLetters = letters
    dominantSize = size
  }
  return dominantSize
}
