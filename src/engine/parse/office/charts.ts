import type { ZipArchive } from '../archive/zip.js'
import { type Attributes, type MarkupHandler, readMarkup } from '../markup/markup-events.js'
import type { Block } from '../parsed.js'
import { tableBlocks } from '../tables.js'
import { xmlPart } from './office-package.js'

/** Charts of one document, series of a chart, points of a series. */
const MAX_CHARTS = 500
const MAX_SERIES = 200
const MAX_POINTS = 5000
const MAX_TEXT = 1000

interface Series {
  name: string
  categories: Map<number, string>
  values: Map<number, string>
}

/** A chart as a table: its title above, categories down, series across. Charts of a document are read one by one. */
export class Charts {
  readonly #zip: ZipArchive
  readonly #filename: string
  #count = 0

  constructor(zip: ZipArchive, filename: string) {
    this.#zip = zip
    this.#filename = filename
  }

  /** The blocks of the chart in a part of the archive; none where there is none or it holds no figures. */
  blocks(part: string | undefined): Block[] {
    if (part === undefined || !this.#zip.entries.has(part) || this.#count >= MAX_CHARTS) return []
    this.#count++
    const reader = new ChartReader()
    readMarkup(xmlPart(this.#zip, part, this.#filename), reader, true)
    return reader.blocks()
  }
}

class ChartReader implements MarkupHandler {
  readonly #path: string[] = []
  readonly #series: Series[] = []
  #kind = ''
  #title = ''
  #axes: string[] = []
  #index = 0
  #held = ''

  open(name: string, attributes: Attributes): void {
    this.#path.push(this.#path.length > 200 ? '' : name)
    if (/^c:\w+Chart$/.test(name) && this.#kind === '') this.#kind = name.slice(2, -5).replace('3D', '')
    else if (name === 'c:ser' && this.#series.length < MAX_SERIES)
      this.#series.push({ name: '', categories: new Map(), values: new Map() })
    else if (name === 'c:pt') this.#index = Number(attributes.get('idx') ?? 0)
    else if (/^c:(?:cat|val|date|ser)Ax$/.test(name)) this.#axes.push('')
    if (name === 'c:v' || name === 'a:t') this.#held = ''
    else if (name === 'a:p' && this.#title !== '') this.#title += ' '
  }

  close(name: string): void {
    this.#path.pop()
    if (name === 'c:v') this.#value(this.#held.trim().slice(0, MAX_TEXT))
    else if (name === 'a:t') this.#words(this.#held)
  }

  text(text: string): void {
    const top = this.#path.at(-1)
    if ((top === 'c:v' || top === 'a:t') && this.#held.length < MAX_TEXT) this.#held += text
  }

  blocks(): Block[] {
    const series = this.#series.filter(({ values }) => values.size > 0)
    if (series.length === 0) return []
    const title = (this.#title === '' && series.length === 1 ? (series[0]?.name ?? '') : this.#title)
      .replace(/\s+/g, ' ')
      .trim()
    const axes = this.#axes.map((axis) => axis.trim()).filter((axis) => axis !== '')
    const said = [title, axes.length > 0 ? `(${axes.join(' / ')})` : ''].filter((part) => part !== '').join(' ')
    const caption: Block[] = said === '' ? [] : [{ type: 'paragraph', text: said, metadata: { role: 'caption' } }]
    const extra = { chart: this.#kind, ...(title === '' ? {} : { caption: title }) }
    return [...caption, ...tableBlocks(rowsOf(series), true, extra)]
  }

  /** What a value is of is told by the elements around it. */
  #value(value: string): void {
    const series = this.#series.at(-1)
    const around = this.#path.findLast((name) => /^c:(?:tx|cat|val|xVal|yVal|bubbleSize|title)$/.test(name))
    if (this.#path.includes('c:title')) this.#words(value)
    else if (series === undefined || !this.#path.includes('c:ser')) return
    else if (around === 'c:tx') series.name = series.name === '' ? value : `${series.name} ${value}`
    else if (!Number.isInteger(this.#index) || this.#index < 0 || this.#index >= MAX_POINTS) return
    else if (around === 'c:cat' || around === 'c:xVal') {
      // categories of several levels come innermost first
      const known = series.categories.get(this.#index)
      series.categories.set(this.#index, known === undefined ? value : `${value} ${known}`.slice(0, MAX_TEXT))
    } else if (around === 'c:val' || around === 'c:yVal') series.values.set(this.#index, figure(value))
  }

  #words(text: string): void {
    if (!this.#path.includes('c:title')) return
    if (this.#path.some((name) => /^c:\w+Ax$/.test(name))) this.#axes[this.#axes.length - 1] += text
    else if (this.#title.length < MAX_TEXT) this.#title += text
  }
}

/** `0.30000000000000004` is what a program computed; `0.3` is what it shows. */
function figure(value: string): string {
  const number = Number(value)
  return value === '' || Number.isNaN(number) ? value : String(Number(number.toPrecision(12)))
}

function rowsOf(series: readonly Series[]): string[][] {
  const numbers = new Set<number>()
  for (const { values, categories } of series)
    for (const index of [...categories.keys(), ...values.keys()]) numbers.add(index)
  const head = ['', ...series.map(({ name }, index) => (name === '' ? `Series ${index + 1}` : name))]
  const rows = [...numbers]
    .sort((a, b) => a - b)
    .slice(0, MAX_POINTS)
    .map((index) => {
      const category = series.find(({ categories }) => categories.has(index))?.categories.get(index)
      return [category ?? String(index + 1), ...series.map(({ values }) => values.get(index) ?? '')]
    })
  return [head, ...rows]
}
