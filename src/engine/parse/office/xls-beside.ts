import type { Block } from '../parsed.js'
import { picturesIn } from './blips.js'
import { chartBlocks, figure } from './chart-blocks.js'

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
const CACHE_OF = 0x1065
/** Type of a substream in its first record: a chart. */
const CHART = 0x0020
/** An object that is the box of a comment; its words are read with its cell. */
const NOTE_OBJECT = 0x19
/** What the text of a chart labels, by link type. */
const LINKED = new Map([
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

interface Chart {
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
export function xlsBeside(stream: Buffer): Map<string, Block[]> {
  const reader = new Reader()
  let at = 0
  while (at + 4 <= stream.length) {
    const type = stream.readUInt16LE(at)
    const end = Math.min(stream.length, at + 4 + stream.readUInt16LE(at + 2))
    reader.record(type, stream.subarray(at + 4, end), at)
    at = end
  }
  return reader.finish()
}

class Reader {
  readonly #sheets = new Map<number, string>()
  readonly #blocks = new Map<string, Block[]>()
  readonly #open: ('chart' | 'other')[] = []
  readonly #group: Buffer[] = []
  #groupBytes = 0
  #inGroup = false
  #sheet = ''
  #charts = 0
  #chart: Chart | undefined
  #objectKind = 0
  /** Number of characters of a text box that are still to be read. */
  #wanted = 0
  #text = ''

  record(type: number, body: Buffer, at: number): void {
    if (type !== CONTINUE) {
      this.#endText()
      this.#inGroup = type === DRAWING_GROUP
    }
    if (type === BOF) this.#begin(body, at)
    else if (type === EOF) this.#end()
    else if (type === BOUND_SHEET && body.length >= 8) this.#sheets.set(body.readUInt32LE(0), shortString(body, 6))
    else if (type === DRAWING_GROUP || (type === CONTINUE && this.#inGroup)) this.#keep(body)
    else if (type === OBJECT && body.length >= 6) this.#objectKind = body.readUInt16LE(4)
    else if (type === TEXT_OBJECT && body.length >= 12)
      this.#wanted = this.#objectKind === NOTE_OBJECT ? 0 : body.readUInt16LE(10)
    else if (type === CONTINUE && this.#wanted > 0) this.#take(body)
    else if (this.#chart !== undefined) chartRecord(this.#chart, type, body)
  }

  finish(): Map<string, Block[]> {
    this.#endText()
    const pictures = picturesIn(Buffer.concat(this.#group))
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
    this.#add(blocksOf(this.#chart))
    this.#chart = undefined
  }

  #keep(body: Buffer): void {
    this.#groupBytes += body.length
    if (this.#groupBytes <= MAX_GROUP_BYTES) this.#group.push(body)
  }

  #take(body: Buffer): void {
    const isWide = (body[0] ?? 0) & 1
    const text = body
      .subarray(1)
      .toString(isWide === 1 ? 'utf16le' : 'latin1')
      .slice(0, this.#wanted)
    this.#wanted -= text.length
    this.#text += text
  }

  #endText(): void {
    const text = this.#text.replace(/\r\n?/g, '\n').trim()
    this.#wanted = 0
    this.#text = ''
    if (text !== '') this.#add([{ type: 'paragraph', text }])
  }

  #add(blocks: readonly Block[]): void {
    const known = this.#blocks.get(this.#sheet) ?? []
    if (blocks.length > 0 && known.length < MAX_BLOCKS) this.#blocks.set(this.#sheet, [...known, ...blocks])
  }
}

function chartRecord(chart: Chart, type: number, body: Buffer): void {
  if (type === BEGIN) chart.depth++
  else if (type === END) {
    chart.depth--
    if (chart.inSeries !== undefined && chart.depth <= chart.inSeries) chart.inSeries = undefined
  } else if (type === SERIES && chart.names.length < MAX_SERIES) {
    chart.names.push('')
    chart.inSeries = chart.depth
  } else if (type === TEXT) chart.text = ''
  else if (type === SERIES_TEXT && body.length >= 3) {
    const text = shortString(body, 2).replace(/\s+/g, ' ').trim()
    if (chart.inSeries === undefined) chart.text = text
    else if (chart.names.at(-1) === '') chart.names[chart.names.length - 1] = text
  } else if (type === OBJECT_LINK && body.length >= 2) {
    const kind = LINKED.get(body.readUInt16LE(0))
    if (kind === 'title') chart.title = chart.text
    else if (kind === 'axis' && chart.text !== '' && chart.axes.length < 10) chart.axes.push(chart.text)
    chart.text = ''
  } else if (type === CACHE_OF && body.length >= 2) chart.cache = body.readUInt16LE(0)
  else if (type === NUMBER && body.length >= 14) cached(chart, body, figure(body.readDoubleLE(6)))
  else if (type === LABEL && body.length >= 9) cached(chart, body, longString(body, 6))
}

function cached(chart: Chart, body: Buffer, text: string): void {
  const point = body.readUInt16LE(0)
  const series = body.readUInt16LE(2)
  if (point >= MAX_POINTS || series >= MAX_SERIES) return
  if (chart.cache === CATEGORIES && !chart.categories.has(point)) chart.categories.set(point, text)
  if (chart.cache !== VALUES) return
  const row = chart.values.get(point) ?? new Map<number, string>()
  chart.values.set(point, row.set(series, text))
}

function blocksOf({ title, axes, names, values, categories }: Chart): Block[] {
  // without stored values it displays cells, which are read on their sheet
  if (values.size === 0) return chartBlocks({ title, axes, kind: 'chart', rows: [] })
  const count = Math.max(names.length, ...[...values.values()].map((row) => Math.max(...row.keys()) + 1))
  const all = Array.from({ length: count }, (_, index) => index)
  const head = ['', ...all.map((index) => names[index] || `Series ${index + 1}`)]
  const points = [...values.keys()].sort((a, b) => a - b)
  const rows = points.map((point) => [
    categories.get(point) ?? String(point + 1),
    ...all.map((index) => values.get(point)?.get(index) ?? ''),
  ])
  return chartBlocks({ title, axes, kind: 'chart', rows: [head, ...rows] })
}

/** Reads a string with its length in one byte, followed by a flag for two-byte characters. */
export function shortString(body: Buffer, at: number): string {
  return characters(body, at + 2, body[at] ?? 0, body[at + 1] ?? 0)
}

/** Reads a string with its length in two bytes, followed by the same flag. */
export function longString(body: Buffer, at: number): string {
  return characters(body, at + 3, body.readUInt16LE(at), body[at + 2] ?? 0)
}

function characters(body: Buffer, at: number, length: number, flags: number): string {
  return (flags & 1) === 1
    ? body.subarray(at, at + length * 2).toString('utf16le')
    : body.subarray(at, at + length).toString('latin1')
}
