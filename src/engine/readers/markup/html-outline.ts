import { addStyle, type BlockStyle, createBlockStyle } from '../block-styles.js'
import { toComparisonKey } from '../implied-headings.js'
import type { Block } from '../parsed.js'

/** Minimum number of links within the page for a table of contents. */
const MIN_ENTRIES = 4
const MAX_ENTRIES = 2000
/** A heading is at the target of its link, or within this many blocks after it. */
const MAX_HEADING_DISTANCE = 4

/** Records ids, links and styles of a page, for the outline of one that marks no headings. */
export class HtmlOutlineTracker {
  readonly styles = new Map<Block, BlockStyle>()
  readonly #ids = new Map<string, Block | undefined>()
  readonly #entries = new Map<string, string>()
  readonly #names = new Map<Block, string[]>()
  #pendingIds: string[] = []
  #link: string | undefined

  /** Adds an id; the next block gets it. */
  addId(id: string | undefined): void {
    if (id !== undefined && id !== '' && this.#pendingIds.length < MAX_ENTRIES) this.#pendingIds.push(id)
  }

  setLink(href: string | undefined): void {
    this.#link = href?.startsWith('#') === true && href.length > 1 ? href.slice(1) : undefined
  }

  text(text: string): void {
    if (this.#link === undefined) return
    const entryText = this.#entries.get(this.#link)
    if (entryText === undefined && this.#entries.size >= MAX_ENTRIES) return
    if ((entryText?.length ?? 0) < 400) this.#entries.set(this.#link, `${entryText ?? ''} ${text}`)
  }

  /** Records a block of text. */
  addBlock(block: Block, style: BlockStyle): void {
    this.styles.set(block, style)
    if (this.#pendingIds.length === 0) return
    const names = this.#pendingIds.filter((id) => !this.#ids.has(id))
    this.#pendingIds = []
    this.#setNames(names, block)
  }

  /** Moves ids and styles when blocks become a table or list. */
  replaceBlocks(inside: readonly Block[], replacement: Block | undefined): void {
    if (replacement !== undefined) {
      const combined = createBlockStyle()
      for (const block of inside) {
        const style = this.styles.get(block)
        if (style !== undefined) addStyle(combined, style)
      }
      this.styles.set(replacement, combined)
    }
    if (this.#names.size === 0) return
    const names = inside.flatMap((block) => this.#names.get(block) ?? [])
    if (names.length > 0) this.#setNames(names, replacement)
  }

  #setNames(names: string[], block: Block | undefined): void {
    for (const id of names) this.#ids.set(id, block)
    if (block !== undefined) this.#names.set(block, names)
  }

  /** The blocks that the page's table of contents links to, with the texts of its entries. */
  findListedBlocks(blocks: readonly Block[]): Map<number, string> {
    const listed = new Map<number, string>()
    if (this.#entries.size < MIN_ENTRIES) return listed
    const indexes = new Map(blocks.map((block, index) => [block, index]))
    for (const [id, words] of this.#entries) {
      const block = this.#ids.get(id)
      const index = block === undefined ? undefined : indexes.get(block)
      const title = toComparisonKey(words.replace(/[\s\d]+$/, ''))
      if (index === undefined || title.length < 4) continue
      for (const [distance, { text }] of blocks.slice(index, index + MAX_HEADING_DISTANCE).entries()) {
        const candidateText = toComparisonKey(text)
        if (candidateText.length < 4 || candidateText.length > 300 || !matchesTitle(title, candidateText)) continue
        listed.set(index + distance, words)
        break
      }
    }
    return listed
  }
}

function matchesTitle(title: string, candidateText: string): boolean {
  return (
    title === candidateText ||
    (candidateText.length >= 6 && title.endsWith(candidateText)) ||
    (title.length >= 6 && candidateText.startsWith(title) && candidateText.length < title.length * 2)
  )
}
