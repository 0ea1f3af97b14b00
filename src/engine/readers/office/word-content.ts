import { addStyle } from '../block-styles.js'
import type { Attributes } from '../markup/markup-events.js'
import { type Formula, getFormulas } from '../math/formula.js'
import type { Block } from '../parsed.js'
import { WordFlow } from './word-flow.js'
import type { WordNumber } from './word-numbering.js'
import { WordParagraph } from './word-paragraph.js'
import type { WordSource } from './word-source.js'
import { isOn, type WordParagraphStyle, type WordRunStyle } from './word-styles.js'
import { MAX_GRID_COLUMNS, toWordTableBlocks, type WordCell, type WordTableRow } from './word-tables.js'

/** Tables and text boxes that are nested deeper lose their structure, not their text. */
const MAX_NESTING = 32

interface OpenTable {
  rows: WordTableRow[]
  row: { cells: WordCell[]; isHeader: boolean; isDeleted: boolean; nextColumn: number } | undefined
  cell: { flow: WordFlow; columns: number; continuesAbove: boolean } | undefined
}

/** Builds the blocks of a Word text from its paragraphs, tables and text boxes. */
export class WordContent {
  readonly stories = new Map<string, Block[]>()
  /** Grows with everything that is read. */
  amount = 0
  readonly #source: WordSource
  readonly #flows: WordFlow[] = [new WordFlow()]
  readonly #paragraphs: WordParagraph[] = []
  readonly #tables: OpenTable[] = []
  /** Elements that are nested too deep, by name. */
  readonly #ignored = new Map<string, number>()
  #continued: WordParagraph | undefined
  #story: string | undefined

  constructor(source: WordSource) {
    this.#source = source
  }

  get paragraphStyle(): WordParagraphStyle | undefined {
    return this.#paragraphs.at(-1)?.style
  }

  openParagraph(): void {
    const style = this.#source.styles.paragraph(undefined)
    this.#continued?.reset(style)
    this.#paragraphs.push(this.#continued ?? new WordParagraph(style))
    this.#continued = undefined
  }

  openParagraphProperty(name: string, attributes: Attributes): void {
    const paragraph = this.#paragraphs.at(-1)
    const value = attributes.get('w:val') ?? ''
    if (paragraph === undefined) return
    if (name === 'w:pStyle') paragraph.style = this.#source.styles.paragraph(value)
    else if (name === 'w:numId') paragraph.numbering.list = value
    else if (name === 'w:ilvl') paragraph.numbering.level = Number(value)
    else if (name === 'w:outlineLvl') paragraph.outlineLevel = Number(value)
  }

  markDeleted(): void {
    const paragraph = this.#paragraphs.at(-1)
    if (paragraph !== undefined) paragraph.isMarkDeleted = true
  }

  addText(text: string, run: WordRunStyle, isLinked: boolean): void {
    if (text.trim() !== '') this.amount++
    this.#paragraphs.at(-1)?.add(text, run, isLinked)
  }

  addFormula({ text, latex }: Formula): void {
    if (text === '') return
    this.amount++
    const paragraph = this.#paragraphs.at(-1)
    if (paragraph === undefined) this.addBlocks([{ type: 'paragraph', text, metadata: { formulas: [latex] } }])
    else {
      paragraph.add(text, {}, false)
      paragraph.formulas.push(latex)
    }
  }

  /** Adds blocks next to the current paragraph: before it while it has no text. */
  addAfter(blocks: readonly Block[]): void {
    const paragraph = this.#paragraphs.at(-1)
    for (const block of blocks) {
      this.amount++
      this.#source.asides.add(block)
      if (paragraph === undefined) this.#flow.add(block)
      else if (paragraph.isBlank && block.picture !== undefined) paragraph.before.push(block)
      else paragraph.after.push(block)
    }
  }

  /** Adds blocks that are text of their own. */
  addBlocks(blocks: readonly Block[]): void {
    for (const block of blocks) {
      this.amount++
      this.#flow.add(block)
    }
  }

  /** Opens a table, a part of one, or a text box, or reads their properties. */
  open(name: string, attributes: Attributes): void {
    if (name === 'w:tbl' || name === 'w:txbxContent') this.#openContainer(name)
    else if (this.#isIgnoring('w:tbl')) return
    else this.#openTablePart(name, attributes)
  }

  close(name: string): void {
    const ignored = this.#ignored.get(name) ?? 0
    if (ignored > 0) this.#ignored.set(name, ignored - 1)
    else if (name === 'w:tbl') this.#closeTable()
    else if (name === 'w:txbxContent') this.#closeBox()
    else if (this.#isIgnoring('w:tbl')) return
    else if (name === 'w:tr') this.#closeRow()
    else if (name === 'w:tc') this.#closeCell()
  }

  dropRow(): void {
    const row = this.#tables.at(-1)?.row
    if (row !== undefined) row.isDeleted = true
  }

  beginStory(id: string): void {
    this.#story = id
    this.#flows.push(new WordFlow())
  }

  endStory(): void {
    if (this.#story === undefined) return
    this.#endContinued()
    this.stories.set(this.#story, this.#flows.pop()?.end() ?? [])
    this.#story = undefined
  }

  finish(): Block[] {
    while (this.#paragraphs.length > 0) this.closeParagraph()
    this.#endContinued()
    while (this.#tables.length > 0) this.#closeTable()
    const blocks: Block[] = []
    for (const flow of this.#flows.splice(0)) for (const block of flow.end()) blocks.push(block)
    return blocks
  }

  closeParagraph(): void {
    const paragraph = this.#paragraphs.pop()
    if (paragraph === undefined) return
    if (paragraph.isMarkDeleted) {
      paragraph.isMarkDeleted = false
      this.#continued = paragraph
    } else this.#addParagraph(paragraph)
  }

  /** The end of a cell or text box ends a paragraph whose own end is deleted. */
  #endContinued(): void {
    const paragraph = this.#continued
    this.#continued = undefined
    if (paragraph !== undefined) this.#addParagraph(paragraph)
  }

  get #flow(): WordFlow {
    return this.#flows.at(-1) ?? new WordFlow()
  }

  #addParagraph(paragraph: WordParagraph): void {
    const { before, after, letters } = paragraph
    const number = this.#countParagraph(paragraph)
    for (const block of before) this.#flow.add(block)
    const [first = '', ...rest] = paragraph.texts
    if (paragraph.isCode) this.#add({ type: 'code', text: paragraph.rawText.replaceAll('\u00a0', ' ') }, paragraph)
    else if (first === '') {
      // an empty paragraph is nothing, but its number counts
    } else if (paragraph.headingLevel > 0) {
      const text = [first, ...rest].join(' ').replaceAll('\n', ' ')
      this.#add({ type: 'heading', text: addLabel(number, text), level: paragraph.headingLevel }, paragraph)
    } else if (number !== undefined && (number.isBullet || number.label !== '')) {
      const text = [first, ...rest].join(' ').replaceAll('\n', ' ')
      const list = this.#flow.addItem(text, number, after)
      const style = this.#source.outline.styles.get(list)
      if (style === undefined) this.#source.outline.addBlock(list, letters)
      else addStyle(style, letters)
      addFormulas(list, paragraph.formulas)
      return
    } else {
      const metadata = paragraph.style.name === 'caption' ? { metadata: { role: 'caption' } } : {}
      for (const text of [first, ...rest]) this.#add({ type: 'paragraph', text, ...metadata }, paragraph)
    }
    for (const block of after) this.#flow.add(block)
  }

  #add(block: Block, paragraph: WordParagraph): void {
    addFormulas(block, paragraph.formulas.splice(0))
    if (block.type === 'paragraph' && paragraph.isTyped) this.#source.typed.set(block, paragraph.rawText)
    this.#source.outline.addBlock(block, paragraph.letters)
    this.#flow.add(block)
  }

  #countParagraph(paragraph: WordParagraph): WordNumber | undefined {
    const { number } = paragraph
    if (number === undefined) return undefined
    const { numbering } = this.#source
    return numbering.next(
      number.list,
      number.level ?? numbering.levelOfStyle(number.list, paragraph.style.numberingStyle),
    )
  }

  #isIgnoring(name: string): boolean {
    return (this.#ignored.get(name) ?? 0) > 0
  }

  #openContainer(name: string): void {
    if (this.#isIgnoring(name) || this.#flows.length + this.#tables.length >= MAX_NESTING * 2)
      this.#ignored.set(name, (this.#ignored.get(name) ?? 0) + 1)
    else if (name === 'w:tbl') this.#tables.push({ rows: [], row: undefined, cell: undefined })
    else this.#flows.push(new WordFlow())
  }

  #openTablePart(name: string, attributes: Attributes): void {
    const table = this.#tables.at(-1)
    if (table === undefined) return
    const value = attributes.get('w:val') ?? ''
    if (name === 'w:tr') {
      this.#closeRow()
      table.row = { cells: [], isHeader: false, isDeleted: false, nextColumn: 0 }
    } else if (name === 'w:gridBefore' && table.row !== undefined) table.row.nextColumn = toCount(value)
    else if (name === 'w:tblHeader' && table.row !== undefined) table.row.isHeader = isOn(attributes)
    else if (name === 'w:tc' && table.row !== undefined) {
      this.#closeCell()
      table.cell = { flow: new WordFlow(), columns: 1, continuesAbove: false }
      this.#flows.push(table.cell.flow)
    } else if (name === 'w:gridSpan' && table.cell !== undefined) table.cell.columns = Math.max(1, toCount(value))
    else if (name === 'w:vMerge' && table.cell !== undefined) table.cell.continuesAbove = value !== 'restart'
  }

  #closeCell(): void {
    const table = this.#tables.at(-1)
    const { cell, row } = table ?? {}
    if (table === undefined || cell === undefined) return
    this.#endContinued()
    table.cell = undefined
    this.#flows.pop()
    const { columns, continuesAbove } = cell
    row?.cells.push({ blocks: cell.flow.end(), column: row.nextColumn, columns, continuesAbove })
    if (row !== undefined) row.nextColumn += columns
  }

  #closeRow(): void {
    this.#closeCell()
    const table = this.#tables.at(-1)
    if (table?.row === undefined) return
    if (!table.row.isDeleted) table.rows.push(table.row)
    table.row = undefined
  }

  #closeTable(): void {
    this.#closeRow()
    const table = this.#tables.pop()
    if (table === undefined) return
    const blocks = toWordTableBlocks(table.rows, this.#source.asides)
    const inside = table.rows.flatMap(({ cells }) => cells.flatMap((cell) => cell.blocks))
    if (blocks[0]?.type === 'table' && !inside.includes(blocks[0]))
      this.#source.outline.replaceBlocks(inside, blocks[0])
    for (const block of blocks) this.#flow.add(block)
  }

  #closeBox(): void {
    this.#endContinued()
    if (this.#flows.length > 1) this.addAfter(this.#flows.pop()?.end() ?? [])
  }
}

function addLabel(number: WordNumber | undefined, text: string): string {
  return number === undefined || number.label === '' ? text : `${number.label}${number.separator}${text}`
}

function addFormulas(block: Block, formulas: readonly string[]): void {
  if (formulas.length > 0) block.metadata = { ...block.metadata, formulas: [...getFormulas(block), ...formulas] }
}

function toCount(value: string): number {
  const count = Number(value)
  return Number.isInteger(count) && count > 0 ? Math.min(count, MAX_GRID_COLUMNS) : 0
}
