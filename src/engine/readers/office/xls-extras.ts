import type { Block } from '../parsed.js'
import { findBlipPictures } from './blips.js'
import { formatChartNumber, toChartBlocks } from './chart-blocks.js'

/** Records of a workbook of Excel 97 to 2003 (MS-XLS 2.3). */
const BOF = 0x0809
const EOF = 0x000a
const BOUND_SHEET = 0x0085
const OBJECT = 0x005d
const TEXT_OBJECT = 0x01b6
const CONTINUE = 0x003c
const DRAWING_GROUP = 0x00eb
const NUMBER = 0x0203
const LABEL = 0x0204
const SERIES = 0x1003
const BEGIN = 0x1033
const END = 0x1034
const SERIES_TEXT = 0x100d
const TEXT = 0x1025
const OBJECT_LINK = 0x1027
const CACHE_INDEX = 0x1065
/** Type of a substream in its first record: a chart. */
const CHART = 0x0020
/** An object that is the box of a comment; its words are read with its cell. */
const NOTE_OBJECT = 0x19
/** What the text of a chart labels, by link type. */
const LINKED_TEXTS = new Map([
  [1, 'title'],
  [2, 'axis'],
  [3, 'axis'],
  [7, 'axis'],
])
const VALUES = 1
const CATEGORIES = 2

const MAX_CHARTS = 500
const MAX_SERIES = 200
const MAX_POINTS = 5000
const MAX_BLOCKS = 5000
const MAX_GROUP_BYTES = 64 * 1024 * 1024

interface XlsChart {
  title: string
  axes: string[]
  names: string[]
  /** Values by point, then by series. Categories are those of the first series that has some. */
  values: Map<number, Map<number, string>>
  categories: Map<number, string>
  text: string
  cache: number
  depth: number
  /** Depth at which the open series started. */
  inSeries: number | undefined
}

/**
 * Reads the content of an old workbook's sheets other than cells: charts as tables, text boxes. The pictures of all
 * sheets are under an empty name, since the drawings with their locations are not parsed.
 *
 * @param stream the stream `Workbook`
 */
export function readXlsExtras(stream: Buffer): Map<string, Block[]> {
  const reader = new XlsExtrasReader()
  let offset = 0
  while (offset + 4 <= stream.length) {
    const type = stream.readUInt16LE(offset)
    const end = Math.min(stream.length, offset + 4 + stream.readUInt16LE(offset + 2))
    reader.record(type, stream.subarray(offset + 4, end), offset)
    offset = end
  }
  return reader.finish()
}

class XlsExtrasReader {
  readonly #sheets = new Map<number, string>()
  readonly #blocks = new Map<string, Block[]>()
  readonly #open: ('chart' | 'other')[] = []
  readonly #group: Buffer[] = []
  #groupBytes = 0
  #inGroup = false
  #sheet = ''
  #charts = 0
  #chart: XlsChart | undefined
  #objectKind = 0
  /** Number of characters of a text box that are still to be read. */
  #missingCharacters = 0
  #text = ''

  record(type: number, body: Buffer, at: number): void {
    if (type !== CONTINUE) {
      this.#endText()
      this.#inGroup = type === DRAWING_GROUP
    }
    if (type === BOF) this.#begin(body, at)
    else if (type === EOF) this.#end()
    else if (type === BOUND_SHEET && body.length >= 8) this.#sheets.set(body.readUInt32LE(0), readShortString(body, 6))
    else if (type === DRAWING_GROUP || (type === CONTINUE && this.#inGroup)) this.#appendGroup(body)
    else if (type === OBJECT && body.length >= 6) this.#objectKind = body.readUInt16LE(4)
    else if (type === TEXT_OBJECT && body.length >= 12)
      this.#missingCharacters = this.#objectKind === NOTE_OBJECT ? 0 : body.readUInt16LE(10)
    else if (type === CONTINUE && this.#missingCharacters > 0) this.#appendText(body)
    else if (this.#chart !== undefined) readChartRecord(this.#chart, type, body)
  }

  finish(): Map<string, Block[]> {
    this.#endText()
    const pictures = findBlipPictures(Buffer.concat(this.#group))
    this.#sheet = ''
    this.#add(pictures.map((picture): Block => ({ type: 'image', text: '', picture })))
    return this.#blocks
  }

  #begin(body: Buffer, at: number): void {
    const name = this.#sheets.get(at)
    if (name !== undefined) this.#sheet = name
    const isChart = body.length >= 4 && body.readUInt16LE(2) === CHART && this.#chart === undefined
    this.#open.push(isChart ? 'chart' : 'other')
    if (isChart && ++this.#charts <= MAX_CHARTS)
      this.#chart = {
        title: '',
        axes: [],
        names: [],
        values: new Map(),
        categories: new Map(),
        text: '',
        cache: 0,
        depth: 0,
        inSeries: undefined,
      }
  }

  #end(): void {
    if (this.#open.pop() !== 'chart' || this.#chart === undefined) return
    this.#add(toBlocks(this.#chart))
    this.#chart = undefined
  }

  #appendGroup(body: Buffer): void {
    this.#groupBytes += body.length
    if (this.#groupBytes <= MAX_GROUP_BYTES) this.#group.push(body)
  }

  #appendText(body: Buffer): void {
    const isWide = (body[0] ?? 0) & 1
    const text = body
      .subarray(1)
      .toString(isWide === 1 ? 'utf16le' : 'latin1')
      .slice(0, this.#missingCharacters)
    this.#missingCharacters -= text.length
    this.#text += text
  }

  #endText(): void {
    const text = this.#text.replace(/\r\n?/g, '\n').trim()
    this.#missingCharacters = 0
    this.#text = ''
    if (text !== '') this.#add([{ type: 'paragraph', text }])
  }

  #add(blocks: readonly Block[]): void {
    const existing = this.#blocks.get(this.#sheet) ?? []
    if (blocks.length > 0 && existing.length < MAX_BLOCKS) this.#blocks.set(this.#sheet, [...existing, ...blocks])
  }
}

function readChartRecord(chart: XlsChart, type: number, body: Buffer): void {
  if (type === BEGIN) chart.depth++
  else if (type === END) {
    chart.depth--
    if (chart.inSeries !== undefined && chart.depth <= chart.inSeries) chart.inSeries = undefined
  } else if (type === SERIES && chart.names.length < MAX_SERIES) {
    chart.names.push('')
    chart.inSeries = chart.depth
  } else if (type === TEXT) chart.text = ''
  else if (type === SERIES_TEXT && body.length >= 3) {
    const text = readShortString(body, 2).replace(/\s+/g, ' ').trim()
    if (chart.inSeries === undefined) chart.text = text
    else if (chart.names.at(-1) === '') chart.names[chart.names.length - 1] = text
  } else if (type === OBJECT_LINK && body.length >= 2) {
    const kind = LINKED_TEXTS.get(body.readUInt16LE(0))
    if (kind === 'title') chart.title = chart.text
    else if (kind === 'axis' && chart.text !== '' && chart.axes.length < 10) chart.axes.push(chart.text)
    chart.text = ''
  } else if (type === CACHE_INDEX && body.length >= 2) chart.cache = body.readUInt16LE(0)
  else if (type === NUMBER && body.length >= 14) storeCachedValue(chart, body, formatChartNumber(body.readDoubleLE(6)))
  else if (type === LABEL && body.length >= 9) storeCachedValue(chart, body, readLongString(body, 6))
}

function storeCachedValue(chart: XlsChart, body: Buffer, text: string): void {
  const point = body.readUInt16LE(0)
  const series = body.readUInt16LE(2)
  if (point >= MAX_POINTS || series >= MAX_SERIES) return
  if (chart.cache === CATEGORIES && !chart.categories.has(point)) chart.categories.set(point, text)
  if (chart.cache !== VALUES) return
  const row = chart.values.get(point) ?? new Map<number, string>()
  chart.values.set(point, row.set(series, text))
}

function toBlocks({ title, axes, names, values, categories }: XlsChart): Block[] {
  // without stored values it displays cells, which are read on their sheet
  if (values.size === 0) return toChartBlocks({ title, axes, kind: 'chart', rows: [] })
  const count = Math.max(names.length, ...[...values.values()].map((row) => Math.max(...row.keys()) + 1))
  const seriesIndexes = Array.from({ length: count }, (_, index) => index)
  const header = ['', ...seriesIndexes.map((index) => names[index] || `Series ${index + 1}`)]
  const points = [...values.keys()].sort((a, b) => a - b)
  const rows = points.map((point) => [
    categories.get(point) ?? String(point + 1),
    ...seriesIndexes.map((index) => values.get(point)?.get(index) ?? ''),
  ])
  return toChartBlocks({ title, axes, kind: 'chart', rows: [header, ...rows] })
}

/** Reads a string with its length in one byte, followed by a flag for two-byte characters. */
export function readShortString(body: Buffer, at: number): string {
  return decodeCharacters(body, at + 2, body[at] ?? 0, body[at + 1] ?? 0)
}

/** Reads a string with its length in two bytes, followed by the same flag. */
export function readLongString(body: Buffer, at: number): string {
  return decodeCharacters(body, at + 3, body.readUInt16LE(at), body[at + 2] ?? 0)
}

function decodeCharacters(body: Buffer, at: number, length: number, flags: number): string {
  return (flags & 1) === 1
    ? body.subarray(at, at + length * 2).toString('utf16le')
    : body.subarray(at, at + length).toString('latin1')
}
