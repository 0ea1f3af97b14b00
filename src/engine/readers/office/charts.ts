import type { ZipArchive } from '../archive/zip.js'
import type { Attributes } from '../markup/markup-events.js'
import type { Block } from '../parsed.js'
import { formatChartNumber, toChartBlocks } from './chart-blocks.js'
import { createObjectReader, type ObjectReader } from './object-parts.js'

/** Maximal number of series of a chart, and of points of a series. */
const MAX_SERIES = 200
const MAX_POINTS = 5000
const MAX_TEXT = 1000

/** Elements with values and words; those of extended charts have the prefix `cx`. */
const TEXTS = new Set(['c:v', 'a:t', 'cx:v', 'cx:pt'])

interface ChartSeries {
  name: string
  categories: Map<number, string>
  values: Map<number, string>
}

/**
 * Creates a reader of the charts in the parts of an archive. It returns their values as tables, with series as columns
 * and categories as rows.
 */
export function createChartReader(zip: ZipArchive, filename: string): (part: string | undefined) => Block[] {
  return createObjectReader(zip, filename, () => new ChartReader())
}

class ChartReader implements ObjectReader {
  readonly #path: string[] = []
  readonly #series: ChartSeries[] = []
  /** Number of extended series that were read. */
  #named = 0
  #kind = ''
  #title = ''
  #axes: string[] = []
  #index = 0
  #text = ''

  open(name: string, attributes: Attributes): void {
    this.#path.push(this.#path.length > 200 ? '' : name)
    if (/^c:\w+Chart$/.test(name) && this.#kind === '') this.#kind = name.slice(2, -5).replace('3D', '')
    else if ((name === 'c:ser' || name === 'cx:data') && this.#series.length < MAX_SERIES)
      this.#series.push({ name: '', categories: new Map(), values: new Map() })
    else if (name === 'cx:series') this.#openExtendedSeries(attributes)
    else if (name === 'c:pt' || name === 'cx:pt') this.#index = Number(attributes.get('idx') ?? 0)
    else if (/^c:(?:cat|val|date|ser)Ax$/.test(name)) this.#axes.push('')
    if (TEXTS.has(name)) this.#text = ''
    else if (name === 'a:p' && this.#title !== '') this.#title += ' '
  }

  close(name: string): void {
    this.#path.pop()
    if (name === 'c:v' || name === 'cx:v' || name === 'cx:pt') this.#value(this.#text.trim().slice(0, MAX_TEXT))
    else if (name === 'a:t') this.#appendTitle(this.#text)
  }

  text(text: string): void {
    if (TEXTS.has(this.#path.at(-1) ?? '') && this.#text.length < MAX_TEXT) this.#text += text
  }

  blocks(): Block[] {
    const series = this.#series.filter(({ values }) => values.size > 0)
    const title = this.#title === '' && series.length === 1 ? (series[0]?.name ?? '') : this.#title
    return toChartBlocks({ title, axes: this.#axes, kind: this.#kind, rows: series.length === 0 ? [] : toRows(series) })
  }

  /** The series of waterfalls, funnels and others name the data that come before them. */
  #openExtendedSeries(attributes: Attributes): void {
    this.#kind ||= attributes.get('layoutId') ?? ''
    this.#named++
  }

  /** The enclosing elements determine to what a value belongs. */
  #value(value: string): void {
    const series = this.#series.at(-1)
    const enclosing = this.#path.findLast((name) =>
      /^(?:c:(?:tx|cat|val|xVal|yVal|bubbleSize|title)|cx:(?:tx|strDim|numDim))$/.test(name),
    )
    if (this.#path.some((name) => /^cx?:title$/.test(name))) this.#appendTitle(value)
    else if (enclosing === 'cx:tx') {
      const named = this.#series[this.#named - 1]
      if (named !== undefined) named.name = value
    } else if (series === undefined || !this.#path.some((name) => name === 'c:ser' || name === 'cx:data')) return
    else if (enclosing === 'c:tx') series.name = series.name === '' ? value : `${series.name} ${value}`
    else if (!Number.isInteger(this.#index) || this.#index < 0 || this.#index >= MAX_POINTS) return
    else if (enclosing === 'c:cat' || enclosing === 'c:xVal' || enclosing === 'cx:strDim') {
      // categories of several levels come innermost first
      const existing = series.categories.get(this.#index)
      series.categories.set(this.#index, existing === undefined ? value : `${value} ${existing}`.slice(0, MAX_TEXT))
    } else if (enclosing === 'c:val' || enclosing === 'c:yVal' || enclosing === 'cx:numDim')
      series.values.set(this.#index, formatValue(value))
  }

  #appendTitle(text: string): void {
    if (!this.#path.some((name) => /^cx?:title$/.test(name))) return
    if (this.#path.includes('cx:axis')) this.#axes.push(text)
    else if (this.#path.some((name) => /^c:\w+Ax$/.test(name))) this.#axes[this.#axes.length - 1] += text
    else if (this.#title.length < MAX_TEXT) this.#title += text
  }
}

/** Formats numbers as programs show them; returns other values unchanged. */
function formatValue(value: string): string {
  const number = Number(value)
  return value === '' || Number.isNaN(number) ? value : formatChartNumber(number)
}

function toRows(series: readonly ChartSeries[]): string[][] {
  const indexes = new Set<number>()
  for (const { values, categories } of series)
    for (const index of [...categories.keys(), ...values.keys()]) indexes.add(index)
  const header = ['', ...series.map(({ name }, index) => (name === '' ? `Series ${index + 1}` : name))]
  const rows = [...indexes]
    .sort((a, b) => a - b)
    .slice(0, MAX_POINTS)
    .map((index) => {
      const category = series.find(({ categories }) => categories.has(index))?.categories.get(index)
      return [category ?? String(index + 1), ...series.map(({ values }) => values.get(index) ?? '')]
    })
  return [header, ...rows]
}
