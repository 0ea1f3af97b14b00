import { DroppedElementTracker } from '../markup/dropped-element.js'
import { type Attributes, type MarkupHandler, readMarkup } from '../markup/markup-events.js'
import { OdsExtrasReader, type OdsSources } from './ods-extras.js'
import { fillDown, type MergedRows, type Sheet, type SheetBudget } from './sheet-blocks.js'

/** Skipped elements: old versions and forms. */
const SKIPPED = new Set(['table:tracked-changes', 'office:forms'])
const NO_SOURCES: OdsSources = { picture: () => undefined, object: () => [] }

/**
 * Reads the sheets of an OpenDocument spreadsheet (ODF 1.3, part 3).
 *
 * Rows and cells have repetition counts. Empty ones only advance the position, so that a sheet of any claimed size
 * costs only what is filled in.
 *
 * @param sources sources of pictures and charts on the sheets
 * @throws ReadError `limit-exceeded` beyond the budget
 */
export function readOdfSheets(xml: string, budget: SheetBudget, sources: OdsSources = NO_SOURCES): Sheet[] {
  const reader = new OdsSheetReader(budget, sources)
  readMarkup(xml, reader, 'xml')
  return reader.sheets
}

class OdsSheetReader implements MarkupHandler {
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
  readonly #dropped = new DroppedElementTracker()
  readonly #extras: OdsExtrasReader
  readonly #hiddenStyles = new Set<string>()
  #styleName = ''

  constructor(budget: SheetBudget, sources: OdsSources) {
    this.#budget = budget
    this.#extras = new OdsExtrasReader(sources)
  }

  open(name: string, attributes: Attributes): void {
    if (this.#dropped.open(name, SKIPPED.has(name))) return
    if (this.#depth > 0 && this.#extras.opens(name, attributes, this.#row, this.#column)) return
    if (name === 'style:style') this.#styleName = attributes.get('style:name') ?? ''
    else if (name === 'style:table-properties') {
      if (attributes.get('table:display') === 'false') this.#hiddenStyles.add(this.#styleName)
    } else if (name === 'table:table') this.#openSheet(attributes)
    else if (name === 'table:table-row') {
      this.#cells = new Map()
      this.#column = 0
      this.#rowRepeat = readCount(attributes, 'table:number-rows-repeated')
    } else if (name === 'table:table-cell' || name === 'table:covered-table-cell') this.#openCell(attributes)
    else if (name === 'text:p') this.#cell?.texts.push('')
    else if (name === 'text:s' || name === 'text:tab' || name === 'text:line-break') this.text(' ')
  }

  close(name: string): void {
    if (this.#dropped.close(name) || this.#extras.closes(name)) return
    if (name === 'table:table-cell' || name === 'table:covered-table-cell') this.#closeCell()
    else if (name === 'table:table-row') this.#closeRow()
    else if (name === 'table:table' && this.#depth > 0 && --this.#depth === 0) {
      fillDown(this.#rows, this.#merges, this.#budget)
      const extras = this.#extras.take()
      const sheet = this.sheets.at(-1)
      if (sheet !== undefined && extras.length > 0) sheet.extras = extras
    }
  }

  text(text: string): void {
    if (this.#extras.text(text)) return
    const texts = this.#cell?.texts
    if (this.#dropped.isActive || texts === undefined || texts.length === 0) return
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
      repeat: readCount(attributes, 'table:number-columns-repeated'),
      rowsSpanned: readCount(attributes, 'table:number-rows-spanned'),
      value: readIsoDate(attributes),
      texts: [],
    }
  }

  #closeCell(): void {
    const cell = this.#cell
    this.#cell = undefined
    if (cell === undefined) return
    const text = (cell.value ?? cell.texts.join('\n')).trim()
    if (text !== '') {
      for (let index = 0; index < cell.repeat; index++) this.#setCell(this.#column + index, text)
      if (cell.rowsSpanned > 1) {
        this.#merges.push({ column: this.#column, first: this.#row, last: this.#row + cell.rowsSpanned - 1 })
      }
    }
    this.#column += cell.repeat
  }

  #setCell(column: number, text: string): void {
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
function readIsoDate(attributes: Attributes): string | undefined {
  if (attributes.get('office:value-type') !== 'date') return undefined
  const value = attributes.get('office:date-value')
  return value === undefined || value.length > 40 ? undefined : value.replace(/T00:00:00(?:\.0+)?$/, '')
}

function readCount(attributes: Attributes, name: string): number {
  const value = Number(attributes.get(name) ?? 1)
  return Number.isSafeInteger(value) && value > 0 ? Math.min(value, 2 ** 31) : 1
}
