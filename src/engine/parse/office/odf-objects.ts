import type { ZipArchive } from '../archive/zip.js'
import { type Attributes, type MarkupHandler, readMarkup } from '../markup/markup-events.js'
import type { Block } from '../parsed.js'
import { tableBlocks } from '../tables.js'
import { xmlPart } from './office-package.js'

/** Objects of one document that are read, rows and characters of one. */
const MAX_OBJECTS = 500
const MAX_ROWS = 5000
const MAX_COLUMNS = 200
const MAX_TEXT = 1000

/** Objects in the parts of a package: charts as tables, formulas as they were typed. Read one by one. */
export class OdfObjects {
  readonly #zip: ZipArchive
  readonly #filename: string
  #count = 0

  constructor(zip: ZipArchive, filename: string) {
    this.#zip = zip
    this.#filename = filename
  }

  /** @param href as a frame names it: `./Object 1` */
  blocks(href: string): Block[] {
    const part = `${href.replace(/^\.\//, '').replace(/\/$/, '')}/content.xml`
    if (!this.#zip.entries.has(part) || ++this.#count > MAX_OBJECTS) return []
    const reader = new OdfObjectReader()
    readMarkup(xmlPart(this.#zip, part, this.#filename), reader, true)
    return reader.blocks()
  }
}

/** Reads a chart (ODF 1.3, part 3, 11) with the table of its own figures, or a formula with its annotation. */
export class OdfObjectReader implements MarkupHandler {
  readonly #path: string[] = []
  readonly #rows: string[][] = []
  readonly #axes: string[] = []
  #kind: string | undefined
  #title = ''
  #formula = ''

  open(name: string, attributes: Attributes): void {
    this.#path.push(this.#path.length > 200 ? '' : name)
    if (name === 'chart:chart') this.#kind = (attributes.get('chart:class') ?? '').replace(/^chart:/, '')
    else if (name === 'chart:axis') this.#axes.push('')
    else if (name === 'table:table-row') {
      if (this.#rows.length < MAX_ROWS) this.#rows.push([])
    } else if (name === 'table:table-cell') {
      const row = this.#rows.at(-1)
      if (row !== undefined && row.length < MAX_COLUMNS) row.push('')
    } else if (name === 'text:s' || name === 'text:line-break') this.text(' ')
  }

  close(_name: string): void {
    this.#path.pop()
  }

  text(text: string): void {
    const path = this.#path
    if (path.at(-1) === 'annotation' || path.at(-1) === 'math:annotation') {
      if (this.#formula.length < MAX_TEXT) this.#formula += text
    } else if (path.includes('table:table-cell')) {
      const row = this.#rows.at(-1)
      const cell = row?.at(-1)
      if (row !== undefined && cell !== undefined && cell.length < MAX_TEXT) row[row.length - 1] = cell + text
    } else if (path.includes('chart:title')) {
      if (path.includes('chart:axis')) this.#axes[this.#axes.length - 1] += text.slice(0, MAX_TEXT)
      else if (this.#title.length < MAX_TEXT) this.#title += text
    }
  }

  blocks(): Block[] {
    if (this.#formula.trim() !== '') return [{ type: 'paragraph', text: this.#formula.trim() }]
    const rows = this.#rows
      .map((row) => row.map((cell) => cell.replace(/\s+/g, ' ').trim()))
      .filter((row) => row.some((cell) => cell !== ''))
    if (this.#kind === undefined || rows.length < 2) return []
    const title = this.#title.replace(/\s+/g, ' ').trim()
    const axes = this.#axes.map((axis) => axis.trim()).filter((axis) => axis !== '')
    const said = [title, axes.length > 0 ? `(${axes.join(' / ')})` : ''].filter((part) => part !== '').join(' ')
    const caption: Block[] = said === '' ? [] : [{ type: 'paragraph', text: said, metadata: { role: 'caption' } }]
    const extra = { chart: this.#kind, ...(title === '' ? {} : { caption: title }) }
    return [...caption, ...tableBlocks(rows, true, extra)]
  }
}
