import { lettersOf } from '../implied-headings.js'
import type { Block } from '../parsed.js'
import { readMarkup } from './markup-events.js'

/** How many letters of a block there are, and how many of them are links. */
export interface LinkShare {
  letters: number
  linked: number
}

/** Larger pages are read whole: they are no articles, and a tree of them costs too much. In characters. */
const MAX_SOURCE = 1024 * 1024
const MAX_ELEMENTS = 20_000
const MAX_DEPTH = 400
/** Elements that have no end, or whose end may be left out: they do not nest. */
const SHALLOW = new Set(
  'area base br col embed hr img input link meta param source track wbr p li td th tr dt dd option thead tbody tfoot'.split(
    ' ',
  ),
)
/** An article has at least so many letters, and they are this share of its page. */
const MIN_ARTICLE = 400
const MIN_SHARE = 0.35
/** A page whose tables have more than this share of its letters is about these. */
const MAX_TABLES = 0.3
/** A page that is links for more than this share is an index. */
const MAX_LINKED = 0.65
/** What is links for more than this share leads elsewhere. */
const LEADS_AWAY = 0.5
/** Beside the article, prose of so many letters is content, too: answers, comments, a second article. */
const PROSE = 120
/** What a site puts around its pages has elements or names of its own; without any a page is nothing but its content. */
const SURROUNDINGS =
  /<(?:nav|aside|footer|header|main|article|iframe|form)\b|\b(?:class|id|role)\s*=\s*["']?[^"'>]{0,300}?(?:nav|menu|side|foot|head|banner|bread|crumb|share|social|relat|promo|cookie|consent|widget|teaser|comment|advert|sponsor|toolbar|article|content|main|wrap|page|post)/i
/** A picture stands within so many blocks before the article, or says in so many letters what it shows. */
const LEAD = 3
const PICTURE = 12

/**
 * The blocks of a page without what its site puts around every page: menus, teasers, notices. Readability judges what the
 * article is; what it leaves out goes only where it is short or leads elsewhere, and nothing goes of a page that is no
 * article: one of tables, an index, a whole book.
 *
 * @param linksOf how much of a block is links
 */
export async function articleBlocks(
  source: string,
  blocks: Block[],
  linksOf: (block: Block) => LinkShare,
): Promise<Block[]> {
  if (!mayBeArticle(source, blocks, linksOf)) return blocks
  const article = await articleLetters(source)
  if (article === undefined) return blocks
  const page = blocks.reduce((sum, block) => sum + lettersOf(block.text).length, 0)
  if (article.length < MIN_ARTICLE || article.length < page * MIN_SHARE) return blocks
  const inside = blocks.map((block) => isInside(block, article))
  const from = inside.indexOf(true)
  const to = inside.lastIndexOf(true)
  if (from === -1) return blocks
  const kept = blocks.map(
    (block, place) => inside[place] === true || staysBeside(block, linksOf(block), place >= from - LEAD && place < to),
  )
  keepHeadings(blocks, kept, from)
  return blocks.filter((_, place) => kept[place])
}

function mayBeArticle(source: string, blocks: readonly Block[], linksOf: (block: Block) => LinkShare): boolean {
  if (source.length > MAX_SOURCE || blocks.length < 3 || !SURROUNDINGS.test(source)) return false
  let letters = 0
  let linked = 0
  let tables = 0
  for (const block of blocks) {
    const share = linksOf(block)
    const length = lettersOf(block.text).length
    letters += length
    linked += Math.min(length, share.linked)
    if (block.type === 'table') tables += length
  }
  return letters >= MIN_ARTICLE && tables <= letters * MAX_TABLES && linked <= letters * MAX_LINKED && isFlat(source)
}

/** Whether a tree of the page stays small. */
function isFlat(source: string): boolean {
  let elements = 0
  let depth = 0
  let deepest = 0
  const handler = {
    open(name: string) {
      elements++
      if (!SHALLOW.has(name)) deepest = Math.max(deepest, ++depth)
    },
    close(name: string) {
      if (!SHALLOW.has(name)) depth = Math.max(0, depth - 1)
    },
    text: () => undefined,
  }
  readMarkup(source, handler)
  return elements <= MAX_ELEMENTS && deepest <= MAX_DEPTH
}

/** Letters of what Readability takes for the article; nothing where it finds none. */
async function articleLetters(source: string): Promise<string | undefined> {
  const [{ parseHTML }, { Readability }] = await Promise.all([import('linkedom'), import('@mozilla/readability')])
  try {
    const { document } = parseHTML(source)
    const article = new Readability(document, {
      maxElemsToParse: MAX_ELEMENTS,
      disableJSONLD: true,
      serializer: (node) => node.textContent ?? '',
    }).parse()
    return article === null ? undefined : lettersOf(article.textContent ?? '')
  } catch {
    // what it cannot judge is kept whole
    return undefined
  }
}

function isInside(block: Block, article: string): boolean {
  if (block.type === 'heading' || block.text === '') return false
  if (block.type !== 'list') return article.includes(lettersOf(block.text))
  const lines = block.text.split('\n').map((line) => lettersOf(line.replace(/^\s*(?:-|\d+\.)\s/, '')))
  return lines.filter((line) => article.includes(line)).length >= lines.length / 2
}

/** Whether a block stays that is not part of the article. */
function staysBeside(block: Block, { letters, linked }: LinkShare, between: boolean): boolean {
  if (block.type === 'heading') return false
  if (block.type === 'code' || block.metadata?.role === 'footnote') return true
  if (block.type === 'image') return between || lettersOf(block.text).length >= PICTURE
  const leadsAway = linked > Math.max(1, letters) * LEADS_AWAY
  if (leadsAway) return false
  if (block.type === 'table') return true
  const length = lettersOf(block.text).length
  return length >= PROSE || (between && length > 0)
}

/** A heading stays with what it heads, and the title of the page does. */
function keepHeadings(blocks: readonly Block[], kept: boolean[], from: number): void {
  let below = false
  for (let place = blocks.length - 1; place >= 0; place--) {
    if (blocks[place]?.type !== 'heading') below = kept[place] === true
    else kept[place] = below || (place < from && blocks[place]?.level === 1)
  }
}
