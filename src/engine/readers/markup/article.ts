import type { BlockStyle } from '../block-styles.js'
import { toComparisonKey } from '../implied-headings.js'
import type { Block } from '../parsed.js'
import { PAGE, type PageArea } from './page-areas.js'

/** Maximum length of the source: larger pages are no articles and are kept complete. */
const MAX_SOURCE_LENGTH = 1024 * 1024
/** Minimum letters of an article, and their minimum fraction of the page. */
const MIN_ARTICLE_LETTERS = 400
const MIN_ARTICLE_FRACTION = 0.35
/** Maximum fraction of letters in tables: above it, the page is about its tables. */
const MAX_TABLE_FRACTION = 0.3
/** Maximum fraction of letters in links: above it, the page is an index. */
const MAX_LINKED_FRACTION = 0.65
/** Fraction of letters in links above which a block is link-heavy: it leads elsewhere. */
const LINK_HEAVY_FRACTION = 0.5
/** Prose of this many letters is content anywhere: answers, comments, a second article. */
const MIN_PROSE_LETTERS = 120
/** The article is where paragraphs of this many letters are. */
const MIN_PARAGRAPH_LETTERS = 60
/** The innermost element with this fraction of the prose contains the article. */
const MIN_PROSE_FRACTION = 0.8
/** A picture belongs to an article that begins within this many blocks. */
const MAX_LEAD_BLOCKS = 3
/** A picture with a description of this many letters is content. */
const MIN_DESCRIPTION_LETTERS = 12

type PageAreaSet = ReadonlySet<PageArea>

/** A block with the features that decide whether it is content. */
interface ArticleBlock {
  block: Block
  letters: number
  isLinkHeavy: boolean
  area: PageArea | undefined
}

/**
 * The blocks of a page without what its site adds to every page: menus, teasers, notices. The article reaches from the
 * first to the last paragraph of prose outside of menus, sidebars and footers. Blocks around it are removed only where
 * they are link-heavy, or short and in one of these. Pages that are no article lose nothing: tables, an index, an
 * entire book.
 *
 * @param getStyle the style of a block and its area of the page
 */
export function extractArticle(
  source: string,
  blocks: Block[],
  getStyle: (block: Block) => BlockStyle | undefined,
): Block[] {
  if (!mayHaveArticle(source) || blocks.length < 3) return blocks
  let hasBoilerplate = false
  const parts = blocks.map((block): ArticleBlock => {
    const style = getStyle(block)
    const letters = block.type === 'image' ? toComparisonKey(block.text).length : (style?.letters ?? block.text.length)
    const isLinkHeavy = (style?.linked ?? 0) > Math.max(1, letters) * LINK_HEAVY_FRACTION
    hasBoilerplate ||= isLinkHeavy || style?.area?.isBoilerplate === true
    return { block, letters, isLinkHeavy, area: style?.area }
  })
  // Most notes and exported pages have no boilerplate.
  if (!hasBoilerplate || !mayBeArticle(parts, getStyle)) return blocks
  const prose = parts.map(isProse)
  const firstProse = prose.indexOf(true)
  const lastProse = prose.lastIndexOf(true)
  if (firstProse === -1) return blocks
  const roots = findContentRoots(parts.filter((_, index) => prose[index]))
  const titles = findTitleAreas(parts.slice(0, firstProse))
  const keep = parts.map((part, index) =>
    shouldKeep(part, {
      isAfterStart: index >= firstProse,
      isNearArticle: index >= firstProse - MAX_LEAD_BLOCKS && index <= lastProse,
      roots,
      titles,
    }),
  )
  if (countLetters(parts.filter((_, index) => keep[index])) < countLetters(parts) * MIN_ARTICLE_FRACTION) return blocks
  keepHeadings(blocks, keep, firstProse)
  return blocks.filter((_, index) => keep[index])
}

/** Whether a page may be an article with boilerplate, by its size. */
export function mayHaveArticle(source: string): boolean {
  return source.length <= MAX_SOURCE_LENGTH
}

function mayBeArticle(parts: readonly ArticleBlock[], getStyle: (block: Block) => BlockStyle | undefined): boolean {
  let linked = 0
  for (const { block, letters } of parts) linked += Math.min(letters, getStyle(block)?.linked ?? 0)
  const letters = countLetters(parts)
  const tables = countLetters(parts.filter(({ block }) => block.type === 'table'))
  return (
    letters >= MIN_ARTICLE_LETTERS && tables <= letters * MAX_TABLE_FRACTION && linked <= letters * MAX_LINKED_FRACTION
  )
}

function isProse({ block, letters, isLinkHeavy, area }: ArticleBlock): boolean {
  return block.type === 'paragraph' && letters >= MIN_PARAGRAPH_LETTERS && !isLinkHeavy && area?.isBoilerplate !== true
}

/** Whether a block is kept, in the article or near it. Headings follow the blocks below them. */
function shouldKeep(
  { block, letters, isLinkHeavy, area }: ArticleBlock,
  {
    isAfterStart,
    isNearArticle,
    roots,
    titles,
  }: { isAfterStart: boolean; isNearArticle: boolean; roots: PageAreaSet; titles: PageAreaSet },
): boolean {
  if (block.type === 'heading') return false
  if (block.type === 'code' || block.metadata?.role === 'footnote') return true
  if (area?.isBoilerplate === true)
    return (
      !isLinkHeavy && (letters >= MIN_PROSE_LETTERS || block.type === 'table' || (!isAfterStart && titles.has(area)))
    )
  if (block.type === 'image') return isNearArticle || letters >= MIN_DESCRIPTION_LETTERS
  if (block.type === 'table') return true
  // Before the text, a link-heavy line is navigation; after it, a list of sources or related pages.
  if (isLinkHeavy) return isAfterStart && area !== undefined && (area.isMain || isWithin(area, roots))
  return true
}

/** Areas before the text with the title of the page and without links: a byline, a date. */
function findTitleAreas(before: readonly ArticleBlock[]): Set<PageArea> {
  const titles = new Set<PageArea>()
  for (const { block, area } of before)
    if (block.type === 'heading' && block.level === 1 && area !== undefined) titles.add(area)
  for (const { isLinkHeavy, area } of before) if (isLinkHeavy && area !== undefined) titles.delete(area)
  return titles
}

/** The elements that contain the article: those of its paragraphs, and the innermost one around most of them. */
function findContentRoots(prose: readonly ArticleBlock[]): Set<PageArea> {
  const roots = new Map<PageArea, number>()
  for (const { area, letters } of prose) if (area !== undefined) roots.set(area, (roots.get(area) ?? 0) + letters)
  const sums = new Map<PageArea, number>()
  for (const [home, letters] of roots)
    for (let area: PageArea | undefined = home; area !== undefined; area = area.outer)
      sums.set(area, (sums.get(area) ?? 0) + letters)
  const minLetters = countLetters(prose) * MIN_PROSE_FRACTION
  const largest = [...roots].reduce((best, candidate) => (candidate[1] > best[1] ? candidate : best), [
    PAGE,
    0,
  ] as const)
  let root: PageArea | undefined = largest[0]
  while (root !== undefined && (sums.get(root) ?? 0) < minLetters) root = root.outer
  const contentRoots = new Set(roots.keys())
  if (root !== undefined && root !== PAGE) contentRoots.add(root)
  return contentRoots
}

function isWithin(inner: PageArea, roots: PageAreaSet): boolean {
  if (roots.has(inner)) return true
  // Every area is within the page.
  for (let area = inner.outer; area !== undefined && area !== PAGE; area = area.outer) if (roots.has(area)) return true
  return false
}

function countLetters(parts: readonly ArticleBlock[]): number {
  return parts.reduce((sum, { letters }) => sum + letters, 0)
}

/** Keeps headings above kept blocks, and the title of the page. */
function keepHeadings(blocks: readonly Block[], keep: boolean[], firstProse: number): void {
  let hasContentBelow = false
  for (let index = blocks.length - 1; index >= 0; index--) {
    if (blocks[index]?.type !== 'heading') hasContentBelow = keep[index] === true
    else keep[index] = hasContentBelow || (index < firstProse && blocks[index]?.level === 1)
  }
}
