import { openZip } from '../archive/zip.js'
import type { ReadLimits } from '../limits.js'
import type { Block } from '../parsed.js'
import { chartBlocks, figure } from './chart-blocks.js'
import { objectParts } from './object-parts.js'
import { OdfObjectReader } from './odf-object-reader.js'
import type { OleStreams } from './ole-file.js'
import { longString, shortString, xlsBeside } from './xls-beside.js'

/** Streams in which programs that write OpenDocument store a chart within an object. */
const PACKAGES = ['package_stream', 'EmbeddedOdf']
const KIND = '\u0001CompObj'
/** Name of Microsoft Graph as the program that created an object. */
const GRAPH = 'MSGraph'
const NUMBER = 0x0203
const LABEL = 0x0204
const MAX_ROWS = 5000
const MAX_COLUMNS = 200

/** The chart of an object as a table; no blocks when it is something else. */
export function chartInOle(streams: OleStreams, filename: string, limits: ReadLimits): Block[] {
  for (const name of PACKAGES) {
    const content = streams.get(name)
    if (content?.subarray(0, 2).toString('latin1') !== 'PK') continue
    const blocks = objectParts(openZip(content, filename, limits), filename, () => new OdfObjectReader())('content.xml')
    if (blocks.length > 0) return blocks
  }
  const workbook = streams.get('Workbook')
  if (workbook === undefined || streams.get(KIND)?.includes(GRAPH, 0, 'latin1') !== true) return []
  return graphBlocks(workbook)
}

/** The data sheet of a Microsoft Graph chart (MS-OGRAPH), below the chart's title. */
function graphBlocks(stream: Buffer): Block[] {
  const said = [...xlsBeside(stream).values()].flat().filter(({ type }) => type !== 'image')
  if (said.some(({ type }) => type === 'table')) return said
  const cells = new Map<number, Map<number, string>>()
  let at = 0
  while (at + 4 <= stream.length) {
    const type = stream.readUInt16LE(at)
    const end = Math.min(stream.length, at + 4 + stream.readUInt16LE(at + 2))
    if (type === NUMBER || type === LABEL) takeCell(cells, type, stream.subarray(at + 4, end))
    at = end
  }
  const columns = [...new Set([...cells.values()].flatMap((row) => [...row.keys()]))].sort((a, b) => a - b)
  const rows = [...cells].sort(([a], [b]) => a - b).map(([, row]) => columns.map((column) => row.get(column) ?? ''))
  return [...said, ...chartBlocks({ title: '', axes: [], kind: 'chart', rows })]
}

function takeCell(cells: Map<number, Map<number, string>>, type: number, body: Buffer): void {
  if (body.length < (type === NUMBER ? 14 : 9)) return
  const number = body.readUInt16LE(0)
  const column = body.readUInt16LE(2)
  if (column >= MAX_COLUMNS || (cells.size >= MAX_ROWS && !cells.has(number))) return
  const row = cells.get(number) ?? new Map<number, string>()
  cells.set(number, row.set(column, type === NUMBER ? figure(body.readDoubleLE(6)) : labelText(body)))
}

/** The length of the string has one byte or two; the length of the record shows which. */
function labelText(body: Buffer): string {
  const length = body.readUInt16LE(6)
  const isWide = ((body[8] ?? 0) & 1) === 1
  const fits = body.length === 9 + length * (isWide ? 2 : 1)
  return (fits ? longString(body, 6) : shortString(body, 6)).trim()
}
