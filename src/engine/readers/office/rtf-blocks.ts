import { addSize, type BlockStyle, createBlockStyle, markImpliedHeadings } from '../block-styles.js'
import type { Block } from '../parsed.js'
import { detectHeads } from '../tables/heads.js'
import { buildTableBlocks, tidyRows } from '../tables.js'

/** A longer list item is a paragraph. */
const MAX_ITEM_LENGTH = 1500

type TextFormatting = { bold: boolean; italic: boolean; underlined: boolean; size: number }

/** Collects the paragraphs of a text into blocks: consecutive items become lists, consecutive rows tables. */
export class RtfBlocks {
  readonly blocks: Block[] = []
  readonly #looks = new Map<Block, BlockStyle>()
  #look = createBlockStyle()
  #items: string[] = []
  #rows: string[][] = []
  #cells: string[] = []
  #cell: string[] = []

  /**
   * @param level level of a heading, 0 for text
   * @param marker text before a list item; undefined for other paragraphs
   */
  paragraph(text: string, level: number, marker: string | undefined): void {
    this.closeTable()
    const line = cleanText(text)
    const look = this.#look
    this.#look = createBlockStyle()
    if (line === '') return
    if (level === 0 && marker !== undefined && line.length <= MAX_ITEM_LENGTH) {
      const sign = /^\(?(?:\d{1,4}|[a-zA-Z]{1,4})[.)]$/.exec(marker)?.[0] ?? '-'
      this.#items.push(`${sign} ${line.replaceAll('\n', ' ')}`)
      return
    }
    this.#closeList()
    const block: Block = level > 0 ? { type: 'heading', text: line, level } : { type: 'paragraph', text: line }
    this.#looks.set(block, look)
    this.blocks.push(block)
  }

  /** Records the formatting of text of the body. */
  recordFormatting(text: string, { bold, italic, underlined, size }: TextFormatting): void {
    const letters = text.replace(/\s/g, '').length
    if (letters === 0) return
    const look = this.#look
    look.letters += letters
    if (bold) look.bold += letters
    if (italic) look.italic += letters
    if (underlined) look.underlined += letters
    addSize(look, size, letters)
  }

  /** Adds a paragraph within a cell. */
  cellText(text: string): void {
    const line = cleanText(text).replaceAll('\n', ' ')
    if (line !== '') this.#cell.push(line)
  }

  /** Adds a note, a comment or a picture after a paragraph. */
  addAfter(block: Block): void {
    this.closeTable()
    this.#closeList()
    this.blocks.push(block)
  }

  closeCell(): void {
    this.#cells.push(this.#cell.join(' '))
    this.#cell = []
  }

  closeRow(): void {
    if (this.#cell.length > 0) this.closeCell()
    if (this.#cells.length > 0) this.#rows.push(this.#cells)
    this.#cells = []
  }

  closeTable(): void {
    this.closeRow()
    if (this.#rows.length === 0) return
    this.#closeList()
    const rows = tidyRows(this.#rows)
    this.#rows = []
    // a single column is a frame around text, not a table
    if (rows.some((row) => row.length > 1)) this.blocks.push(...buildTableBlocks(rows, detectHeads(rows)))
    else for (const [text = ''] of rows) this.blocks.push({ type: 'paragraph', text })
  }

  finish(): Block[] {
    this.closeTable()
    this.#closeList()
    markImpliedHeadings(this.blocks, this.#looks, () => false)
    return this.blocks
  }

  #closeList(): void {
    if (this.#items.length > 0) this.blocks.push({ type: 'list', text: this.#items.join('\n') })
    this.#items = []
  }
}

function cleanText(text: string): string {
  return text
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .trim()
}
