import type { Block } from '../parsed.js'
import type { CellSpan } from '../tables/cells.js'
import { buildTableBlocks } from '../tables.js'

const MAX_SPAN = 1000
/** Columns that the spans of all cells of a table may add. */
const MAX_ADDED_COLUMNS = 100_000

interface WikiCell {
  text: string
  isHeader: boolean
  rows: number
  columns: number
}

/** Reads the lines of a table, between `{|` and `|}`. */
export class WikiTable {
  readonly #toText: (source: string) => string
  readonly #rows: WikiCell[][] = []
  /** tables within cells, which follow this one */
  readonly #inner: Block[] = []
  #caption = ''
  #inCaption = false

  constructor(toText: (source: string) => string) {
    this.#toText = toText
  }

  addLine(line: string): void {
    if (line.startsWith('|+')) {
      this.#caption = this.#toText(splitFormat(line.slice(2)).content)
      this.#inCaption = true
    } else if (line.startsWith('|-')) this.#rows.push([])
    else if (line.startsWith('|') || line.startsWith('!')) this.#addCells(line)
    else if (this.#inCaption && this.#rows.length === 0) this.#caption = `${this.#caption} ${this.#toText(line)}`.trim()
    else this.#addToCell(this.#toText(line.replace(/^[*#:;]+/, '')))
  }

  /** Adds a table that ends within a cell. */
  addTable(blocks: readonly Block[]): void {
    for (const block of blocks) {
      this.#inner.push(block)
      this.#addToCell(block.text.replaceAll(' | ', ' '))
    }
  }

  toBlocks(): Block[] {
    const rows = this.#rows.filter((row) => row.length > 0)
    const { texts, spans } = placeCells(rows)
    const caption = this.#caption === '' ? {} : { caption: this.#caption }
    const blocks: Block[] =
      this.#caption === '' ? [] : [{ type: 'paragraph', text: this.#caption, metadata: { role: 'caption' } }]
    const firstBody = rows.findIndex((row) => !row.every(({ isHeader }) => isHeader))
    const hasHeader = rows[0]?.some(({ isHeader }) => isHeader) === true
    const headerRows = firstBody > 0 ? firstBody : hasHeader ? 1 : 0
    if (texts.some((row) => row.some((text) => text !== '')))
      blocks.push(...buildTableBlocks(texts, { headerRows, headColumns: 0 }, caption, spans))
    return [...blocks, ...this.#inner]
  }

  #addCells(line: string): void {
    const isHeader = line.startsWith('!')
    if (this.#rows.length === 0) this.#rows.push([])
    for (const cell of line.slice(1).split(isHeader ? /!!|\|\|/ : '||')) {
      const { format, content } = splitFormat(cell)
      this.#rows.at(-1)?.push({
        text: this.#toText(content),
        isHeader,
        rows: readSpan(format, 'rowspan'),
        columns: readSpan(format, 'colspan'),
      })
    }
  }

  #addToCell(text: string): void {
    const cell = this.#rows.at(-1)?.at(-1)
    if (cell !== undefined && text !== '') cell.text = `${cell.text} ${text}`.trim()
  }
}

/** Separates the format of a cell, which precedes a bar: `style="x" | text`. */
function splitFormat(cell: string): { format: string; content: string } {
  const bar = cell.indexOf('|')
  const format = bar > 0 ? cell.slice(0, bar) : ''
  return /^[^[\]{}|]*=[^[\]{}|]*$|^\s*(?:nowrap|scope)\s*$/i.test(format)
    ? { format, content: cell.slice(bar + 1) }
    : { format: '', content: cell }
}

function readSpan(format: string, name: string): number {
  const count = Number(new RegExp(`${name}\\s*=\\s*["']?\\s*(\\d{1,4})`, 'i').exec(format)?.[1] ?? 1)
  return count > 1 && count <= MAX_SPAN ? count : 1
}

/** Places each cell in the first column that no cell of a row above covers. */
function placeCells(rows: readonly WikiCell[][]): { texts: string[][]; spans: CellSpan[] } {
  const spans: CellSpan[] = []
  let addedColumns = 0
  /** for each column, the first row in which it is free */
  const firstFreeRow: number[] = []
  const texts = rows.map((cells, row) => {
    const line: string[] = []
    let column = 0
    for (const cell of cells) {
      while ((firstFreeRow[column] ?? 0) > row) {
        line[column++] = ''
        addedColumns++
      }
      addedColumns += cell.columns - 1
      const columns = addedColumns > MAX_ADDED_COLUMNS ? 1 : cell.columns
      const rowCount = addedColumns > MAX_ADDED_COLUMNS ? 1 : Math.min(cell.rows, rows.length - row)
      if (rowCount > 1 || columns > 1) spans.push({ row, column, rows: rowCount, columns })
      for (let next = column; next < column + columns; next++) {
        line[next] = next === column ? cell.text : ''
        firstFreeRow[next] = row + rowCount
      }
      column += columns
    }
    return line
  })
  return { texts, spans }
}
