import type { Block } from '../parsed.js'
import type { WordNumber } from './word-numbering.js'

/** An item that is longer than this is a text, not an item. */
const MAX_ITEM_LENGTH = 1500
const INDENT = '  '

interface OpenList {
  block: Block
  lines: string[]
  /** levels of the open items, outermost first */
  levels: number[]
  isBulleted: boolean
  after: Block[]
}

/** The content of a body, cell, text box or note of a Word document: blocks, and the list that is open at their end. */
export class WordFlow {
  readonly #blocks: Block[] = []
  #list: OpenList | undefined

  add(block: Block): void {
    this.#endList()
    this.#blocks.push(block)
  }

  /**
   * Adds an item to the open list, or to a new one.
   *
   * @param after blocks that follow the list
   * @returns the block of the list
   */
  addItem(text: string, { label, isBullet, level }: WordNumber, after: readonly Block[]): Block {
    if (text.length > MAX_ITEM_LENGTH) {
      const block: Block = { type: 'paragraph', text: label === '' ? text : `${label} ${text}` }
      this.add(block)
      for (const following of after) this.add(following)
      return block
    }
    if (this.#list !== undefined && this.#list.isBulleted !== isBullet && level <= (this.#list.levels[0] ?? 0))
      this.#endList()
    this.#list ??= { block: { type: 'list', text: '' }, lines: [], levels: [], isBulleted: isBullet, after: [] }
    const { levels, lines } = this.#list
    while (levels.length > 0 && (levels.at(-1) ?? 0) >= level) levels.pop()
    levels.push(level)
    lines.push(`${INDENT.repeat(levels.length - 1)}${isBullet ? '-' : label} ${text}`)
    for (const block of after) this.#list.after.push(block)
    return this.#list.block
  }

  /** The blocks, with the open list. */
  end(): Block[] {
    this.#endList()
    return this.#blocks
  }

  #endList(): void {
    const list = this.#list
    if (list === undefined) return
    this.#list = undefined
    list.block.text = list.lines.join('\n')
    this.#blocks.push(list.block)
    for (const block of list.after) this.#blocks.push(block)
  }
}
