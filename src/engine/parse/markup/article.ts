import { lettersOf } from '../implied-headings.js'
import type { Look } from '../looks.js'
import type { Block } from '../parsed.js'
import { PAGE, type PageArea } from './page-areas.js'

/** Maximum length of the source: larger pages are no articles and are kept complete. */
const MAX_SOURCE = 1024 * 1024
/** Minimum letters of an article, and their minimum fraction of the page. */
const MIN_ARTICLE = 400
const MIN_SHARE = 0.35
/** Maximum fraction of letters in tables: above it, the page is about its tables. */
const MAX_TABLES = 0.3
/** Maximum fraction of letters in links: above it, the page is an index. */
const MAX_LINKED = 0.65
/** Fraction of letters in links above which a block is link-heavy: it leads elsewhere. */
const LEADS_AWAY = 0.5
/** Prose of this many letters is content anywhere: answers, comments, a second article. */
const PROSE = 120
/** The article is where paragraphs of this many letters are. */
const PARAGRAPH = 60
/** The innermost element with this fraction of the prose contains the article. */
const MOST_PROSE = 0.8
/** A picture belongs to an article that begins within this many blocks. */
const LEAD = 3
/** A picture with a description of this many letters is content. */
const PICTURE = 12

type Areas = ReadonlySet<PageArea>

/** A block with the features that decide whether it is content. */
interface Part {
  block: Block
  letters: number
  leadsAway: boolean
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
export function articleBlocks(source: string, blocks: Block[], lookOf: (block: Block) => Look | undefined): Block[] {
  if (!mayHaveArticle(source) || blocks.length < 3) return blocks
  let anything = false
  const parts = blocks.map((block): Part => {
    const look = lookOf(block)
    const letters = block.type === 'image' ? lettersOf(block.text).length : (look?.letters ?? block.text.length)
    const leadsAway = (look?.linked ?? 0) > Math.max(1, letters) * LEADS_AWAY
    anything ||= leadsAway || look?.area?.around === true
    return { block, letters, leadsAway, area: look?.area }
  })
  // Most notes and exported pages have no boilerplate.
  if (!anything || !mayBeArticle(parts, lookOf)) return blocks
  const prose = parts.map(isProse)
  const from = prose.indexOf(true)
  const to = prose.lastIndexOf(true)
  if (from === -1) return blocks
  const homes = homesOf(parts.filter((_, place) => prose[place]))
  const titles = titleAreas(parts.slice(0, from))
  const kept = parts.map((part, place) =>
    staysIn(part, {
      begun: place >= from,
      near: place >= from - LEAD && place <= to,
      homes,
      titles,
    }),
  )
  if (lettersIn(parts.filter((_, place) => kept[place])) < lettersIn(parts) * MIN_SHARE) return blocks
  keepHeadings(blocks, kept, from)
  return blocks.filter((_, place) => kept[place])
}

/** Whether a page may be an article with boilerplate, by its size. */
export function mayHaveArticle(source: string): boolean {
  return source.length <= MAX_SOURCE
}

function mayBeArticle(parts: readonly Part[], lookOf: (block: Block) => Look | undefined): boolean {
  let linked = 0
  for (const { block, letters } of parts) linked += Math.min(letters, lookOf(block)?.linked ?? 0)
  const letters = lettersIn(parts)
  const tables = lettersIn(parts.filter(({ block }) => block.type === 'table'))
  return letters >= MIN_ARTICLE && tables <= letters * MAX_TABLES && linked <= letters * MAX_LINKED
}

function isProse({ block, letters, leadsAway, area }: Part): boolean {
  return block.type === 'paragraph' && letters >= PARAGRAPH && !leadsAway && area?.around !== true
}

/** Whether a block is kept, in the article or near it. Headings follow the blocks below them. */
function staysIn(
  { block, letters, leadsAway, area }: Part,
  { begun, near, homes, titles }: { begun: boolean; near: boolean; homes: Areas; titles: Areas },
): boolean {
  if (block.type === 'heading') return false
  if (block.type === 'code' || block.metadata?.role === 'footnote') return true
  if (area?.around === true)
    return !leadsAway && (letters >= PROSE || block.type === 'table' || (!begun && titles.has(area)))
  if (block.type === 'image') return near || letters >= PICTURE
  if (block.type === 'table') return true
  // Before the text, a link-heavy line is navigation; after it, a list of sources or related pages.
  if (leadsAway) return begun && area !== undefined && (area.main || isWithin(area, homes))
  return true
}

/** Areas before the text with the title of the page and without links: a byline, a date. */
function titleAreas(before: readonly Part[]): Set<PageArea> {
  const titles = new Set<PageArea>()
  for (const { block, area } of before)
    if (block.type === 'heading' && block.level === 1 && area !== undefined) titles.add(area)
  for (const { leadsAway, area } of before) if (leadsAway && area !== undefined) titles.delete(area)
  return titles
}

/** The elements that contain the article: those of its paragraphs, and the innermost one around most of them. */
function homesOf(prose: readonly Part[]): Set<PageArea> {
  const homes = new Map<PageArea, number>()
  for (const { area, letters } of prose) if (area !== undefined) homes.set(area, (homes.get(area) ?? 0) + letters)
  const sums = new Map<PageArea, number>()
  for (const [home, letters] of homes)
    for (let area: PageArea | undefined = home; area !== undefined; area = area.outer)
      sums.set(area, (sums.get(area) ?? 0) + letters)
  const enough = lettersIn(prose) * MOST_PROSE
  const largest = [...homes].reduce((best, one) => (one[1] > best[1] ? one : best), [PAGE, 0] as const)
  let around: PageArea | undefined = largest[0]
  while (around !== undefined && (sums.get(around) ?? 0) < enough) around = around.outer
  const found = new Set(homes.keys())
  if (around !== undefined && around !== PAGE) found.add(around)
  return found
}

function isWithin(inner: PageArea, homes: Areas): boolean {
  if (homes.has(inner)) return true
  // Every area is within the page.
  for (let area = inner.outer; area !== undefined && area !== PAGE; area = area.outer) if (homes.has(area)) return true
  return false
}

function lettersIn(parts: readonly Part[]): number {
  return parts.reduce((sum, { letters }) => sum + letters, 0)
}

/** Keeps headings above kept blocks, and the title of the page. */
function keepHeadings(blocks: readonly Block[], kept: boolean[], from: number): void {
  let below = false
  for (let place = blocks.length - 1; place >= 0; place--) {
    if (blocks[place]?.type !== 'heading') below = kept[place] === true
    else kept[place] = below || (place < from && blocks[place]?.level === 1)
  }
}
