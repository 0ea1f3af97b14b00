import { DroppedElement } from '../markup/dropped-element.js'
import { type Attributes, type MarkupHandler, readMarkup } from '../markup/markup-events.js'
import { OdsBeside, type OdsSources } from './ods-beside.js'
import { fillDown, type MergedRows, type Sheet, type SheetBudget } from './sheet-blocks.js'

/** Skipped elements: old versions and forms. */
const DROPPED = new Set(['table:tracked-changes', 'office:forms'])
const NOTHING: OdsSources = { picture: () => undefined, object: () => [] }

/**
 * Reads the sheets of an OpenDocument spreadsheet (ODF 1.3, part 3).
 *
 * Rows and cells have repetition counts. Empty ones only advance the position, so that a sheet of any claimed size
 * costs only what is filled in.
 *
 * @param sources sources of pictures and charts on the sheets
 * @throws ReadError `limit-exceeded` beyond the budget
 */
export function readOdfSheets(xml: string, budget: SheetBudget, sources: OdsSources = NOTHING): Sheet[] {
  const reader = new SheetReader(budget, sources)
  readMarkup(xml, reader, true)
  return reader.sheets
}

class SheetReader implements MarkupHandler {
  readonly sheets: Sheet[] = []
  readonly #budget: SheetBudget
  #rows = new Map<number, Map<number, string>>()
  #merges: MergedRows[] = []
  #cells = new Map<number, string>()
  #row = 0
  #column = 0
  #rowRepeat = 1
  #cell: { repeat: number; rowsSpanned: number; value: string | undefined; texts: string[] } | undefined
  #depth = 0
  readonly #dropped = new DroppedElement()
  readonly #beside: OdsBeside
  readonly #hiddenStyles = new Set<string>()
  #styleName = ''

  constructor(budget: SheetBudget, sources: OdsSources) {
    this.#budget = budget
    this.#beside = new OdsBeside(sources)
  }

  open(name: string, attributes: Attributes): void {
    if (this.#dropped.opens(name, DROPPED.has(name))) return
    if (this.#depth > 0 && this.#beside.opens(name, attributes, this.#row, this.#column)) return
    if (name === 'style:style') this.#styleName = attributes.get('style:name') ?? ''
    else if (name === 'style:table-properties') {
      if (attributes.get('table:display') === 'false') this.#hiddenStyles.add(this.#styleName)
    } else if (name === 'table:table') this.#openSheet(attributes)
    else if (name === 'table:table-row') {
      this.#cells = new Map()
      this.#column = 0
      this.#rowRepeat = count(attributes, 'table:number-rows-repeated')
    } else if (name === 'table:table-cell' || name === 'table:covered-table-cell') this.#openCell(attributes)
    else if (name === 'text:p') this.#cell?.texts.push('')
    else if (name === 'text:s' || name === 'text:tab' || name === 'text:line-break') this.text(' ')
  }

  close(name: string): void {
    if (this.#dropped.closes(name) || this.#beside.closes(name)) return
    if (name === 'table:table-cell' || name === 'table:covered-table-cell') this.#closeCell()
    else if (name === 'table:table-row') this.#closeRow()
    else if (name === 'table:table' && this.#depth > 0 && --this.#depth === 0) {
      fillDown(this.#rows, this.#merges, this.#budget)
      const beside = this.#beside.take()
      const sheet = this.sheets.at(-1)
      if (sheet !== undefined && beside.length > 0) sheet.beside = beside
    }
  }

  text(text: string): void {
    if (this.#beside.text(text)) return
    const texts = this.#cell?.texts
    if (this.#dropped.inside || texts === undefined || texts.length === 0) return
    texts.push(`${texts.pop() ?? ''}${text}`)
  }

  #openSheet(attributes: Attributes): void {
    if (this.#depth++ > 0) return
    this.#rows = new Map()
    this.#merges = []
    this.#row = 0
    const isHidden = this.#hiddenStyles.has(attributes.get('table:style-name') ?? '')
    this.sheets.push({
      name: attributes.get('table:name') ?? `Sheet${this.sheets.length + 1}`,
      rows: this.#rows,
      ...(isHidden ? { isHidden } : {}),
    })
  }

  #openCell(attributes: Attributes): void {
    this.#cell = {
      repeat: count(attributes, 'table:number-columns-repeated'),
      rowsSpanned: count(attributes, 'table:number-rows-spanned'),
      value: isoDate(attributes),
      texts: [],
    }
  }

  #closeCell(): void {
    const cell = this.#cell
    this.#cell = undefined
    if (cell === undefined) return
    const text = (cell.value ?? cell.texts.join('\n')).trim()
    if (text !== '') {
      for (let index = 0; index < cell.repeat; index++) this.#fill(this.#column + index, text)
      if (cell.rowsSpanned > 1) {
        this.#merges.push({ column: this.#column, first: this.#row, last: this.#row + cell.rowsSpanned - 1 })
      }
    }
    this.#column += cell.repeat
  }

  #fill(column: number, text: string): void {
    this.#budget.cells(1)
    this.#cells.set(column, this.#budget.text(text))
  }

  #closeRow(): void {
    if (this.#cells.size > 0) {
      this.#rows.set(this.#row, this.#cells)
      for (let index = 1; index < this.#rowRepeat; index++) {
        this.#budget.cells(this.#cells.size)
        for (const text of this.#cells.values()) this.#budget.text(text)
        this.#rows.set(this.#row + index, new Map(this.#cells))
      }
    }
    this.#row += this.#rowRepeat
    this.#cells = new Map()
    this.#rowRepeat = 1
  }
}

/** Dates are kept in the stored ISO form; other values are shown as text. */
function isoDate(attributes: Attributes): string | undefined {
  if (attributes.get('office:value-type') !== 'date') return undefined
  const value = attributes.get('office:date-value')
  return value === undefined || value.length > 40 ? undefined : value.replace(/T00:00:00(?:\.0+)?$/, '')
}

function count(attributes: Attributes, name: string): number {
  const value = Number(attributes.get(name) ?? 1)
  return Number.isSafeInteger(value) && value > 0 ? Math.min(value, 2 ** 31) : 1
}
