import { type Attributes, getLocalName } from '../markup/markup-events.js'
import { MathTree } from '../math/math-tree.js'
import { convertMathml } from '../math/mathml.js'
import type { Block } from '../parsed.js'
import { toChartBlocks } from './chart-blocks.js'
import type { ObjectReader } from './object-parts.js'

/** Maximal numbers of rows, columns and characters of one object. */
const MAX_ROWS = 5000
const MAX_COLUMNS = 200
const MAX_TEXT = 1000

/** Parses a chart (ODF 1.3, part 3, 11) with the table of its values, or a formula. */
export class OdfObjectReader implements ObjectReader {
  readonly #path: string[] = []
  readonly #rows: string[][] = []
  readonly #axes: string[] = []
  #kind: string | undefined
  #title = ''
  /** A formula as it was typed. */
  #typed = ''
  #math: MathTree | undefined

  open(name: string, attributes: Attributes): void {
    if (this.#math?.isClosed === false) this.#math.open(name, attributes)
    else if (this.#math === undefined && getLocalName(name) === 'math') this.#math = new MathTree(name)
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

  close(name: string): void {
    this.#path.pop()
    if (this.#math?.isClosed === false) this.#math.close(name)
  }

  text(text: string): void {
    const path = this.#path
    if (this.#math?.isClosed === false) this.#math.text(text)
    if (path.at(-1) === 'annotation' || path.at(-1) === 'math:annotation') {
      if (this.#typed.length < MAX_TEXT) this.#typed += text
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
    if (this.#math !== undefined) {
      const { text, latex } = convertMathml(this.#math.root)
      const shown = text === '' ? this.#typed.trim() : text
      return shown === ''
        ? []
        : [{ type: 'paragraph', text: shown, metadata: { formulas: [latex === '' ? shown : latex] } }]
    }
    const rows = this.#rows
      .map((row) => row.map((cell) => cell.replace(/\s+/g, ' ').trim()))
      .filter((row) => row.some((cell) => cell !== ''))
    if (this.#kind === undefined) return []
    return toChartBlocks({ title: this.#title, axes: this.#axes, kind: this.#kind, rows: rows.length < 2 ? [] : rows })
  }
}
