import { openZip } from '../archive/zip.js'
import type { ReadLimits } from '../limits.js'
import type { Block } from '../parsed.js'
import { formatChartNumber, toChartBlocks } from './chart-blocks.js'
import { createObjectReader } from './object-parts.js'
import { OdfObjectReader } from './odf-object-reader.js'
import type { OleStreams } from './ole-file.js'
import { readLongString, readShortString, readXlsExtras } from './xls-extras.js'

/** Streams in which programs that write OpenDocument store a chart within an object. */
const PACKAGE_STREAMS = ['package_stream', 'EmbeddedOdf']
const TYPE_STREAM = '\u0001CompObj'
/** Name of Microsoft Graph as the program that created an object. */
const GRAPH_PROGRAM = 'MSGraph'
const NUMBER = 0x0203
const LABEL = 0x0204
const MAX_ROWS = 5000
const MAX_COLUMNS = 200

/** The chart of an object as a table; no blocks when it is something else. */
export function readOleChart(streams: OleStreams, filename: string, limits: ReadLimits): Block[] {
  for (const name of PACKAGE_STREAMS) {
    const content = streams.get(name)
    if (content?.subarray(0, 2).toString('latin1') !== 'PK') continue
    const blocks = createObjectReader(
      openZip(content, filename, limits),
      filename,
      () => new OdfObjectReader(),
    )('content.xml')
    if (blocks.length > 0) return blocks
  }
  const workbook = streams.get('Workbook')
  if (workbook === undefined || streams.get(TYPE_STREAM)?.includes(GRAPH_PROGRAM, 0, 'latin1') !== true) return []
  return readGraphBlocks(workbook)
}

/** The data sheet of a Microsoft Graph chart (MS-OGRAPH), below the chart's title. */
function readGraphBlocks(stream: Buffer): Block[] {
  const titleBlocks = [...readXlsExtras(stream).values()].flat().filter(({ type }) => type !== 'image')
  if (titleBlocks.some(({ type }) => type === 'table')) return titleBlocks
  const cells = new Map<number, Map<number, string>>()
  let offset = 0
  while (offset + 4 <= stream.length) {
    const type = stream.readUInt16LE(offset)
    const end = Math.min(stream.length, offset + 4 + stream.readUInt16LE(offset + 2))
    if (type === NUMBER || type === LABEL) readCell(cells, type, stream.subarray(offset + 4, end))
    offset = end
  }
  const columns = [...new Set([...cells.values()].flatMap((row) => [...row.keys()]))].sort((a, b) => a - b)
  const rows = [...cells].sort(([a], [b]) => a - b).map(([, row]) => columns.map((column) => row.get(column) ?? ''))
  return [...titleBlocks, ...toChartBlocks({ title: '', axes: [], kind: 'chart', rows })]
}

function readCell(cells: Map<number, Map<number, string>>, type: number, body: Buffer): void {
  if (body.length < (type === NUMBER ? 14 : 9)) return
  const number = body.readUInt16LE(0)
  const column = body.readUInt16LE(2)
  if (column >= MAX_COLUMNS || (cells.size >= MAX_ROWS && !cells.has(number))) return
  const row = cells.get(number) ?? new Map<number, string>()
  cells.set(number, row.set(column, type === NUMBER ? formatChartNumber(body.readDoubleLE(6)) : readLabel(body)))
}

/** The length of the string has one byte or two; the length of the record shows which. */
function readLabel(body: Buffer): string {
  const length = body.readUInt16LE(6)
  const isWide = ((body[8] ?? 0) & 1) === 1
  const isWideLength = body.length === 9 + length * (isWide ? 2 : 1)
  return (isWideLength ? readLongString(body, 6) : readShortString(body, 6)).trim()
}
