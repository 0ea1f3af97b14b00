import { isRecord } from '../lib/json/values.js'
import { formatCount } from '../lib/text/pluralize.js'
import { tty, ttyLine, ttyName } from './terminal.js'
import { formatAge, formatBytes } from './units.js'

/**
 * How a field is shown to people; machines get the raw value. A `time` is ISO text, an `epoch` milliseconds since 1970,
 * `seconds` are seconds since 1970. A `name` is a path or file name, a `score` is between 0 and 1.
 */
export type ColumnKind =
  | 'text'
  | 'name'
  | 'id'
  | 'time'
  | 'epoch'
  | 'seconds'
  | 'bytes'
  | 'count'
  | 'score'
  | 'state'
  | 'progress'

/** One column of a list, or one line of a record. */
export interface OutputColumn {
  /** Name or dotted path of the value in the item. */
  field: string
  /** Heading; by default the field in capitals. */
  title?: string
  kind?: ColumnKind
  /** Omitted first if a table is wider than the terminal. */
  isDetail?: true
  /** The main text of the list: at least half of a terminal is for it, if it is that long. */
  isMain?: true
}

/** The value at a dotted path, or `undefined`. */
export function getValueAt(item: unknown, path: string): unknown {
  let value: unknown = item
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined
    value = Object.getOwnPropertyDescriptor(value, key)?.value
  }
  return value
}

/** The last 8 hex digits of an id: a UUIDv7 begins with the time, so only its end distinguishes ids. */
export function formatShortId(id: string): string {
  return `#${id.replaceAll('-', '').slice(-8)}`
}

/** Formats a value for people as one line without control characters. */
export function formatCell(value: unknown, kind: ColumnKind | undefined, now: number = Date.now()): string {
  if (value === undefined || value === null) return ''
  return kind === 'name' && typeof value === 'string' ? ttyName(value) : ttyLine(formatValue(value, kind, now))
}

function formatValue(value: unknown, kind: ColumnKind | undefined, now: number): string {
  if (kind === 'time' && typeof value === 'string') return formatAge(value, now)
  if (kind === 'epoch' && typeof value === 'number') return formatAge(new Date(value).toISOString(), now)
  if (kind === 'seconds' && typeof value === 'number') return formatAge(new Date(value * 1000).toISOString(), now)
  if (kind === 'bytes' && typeof value === 'number') return formatBytes(value)
  if (kind === 'id' && typeof value === 'string') return formatShortId(value)
  if (kind === 'score' && typeof value === 'number') return value.toFixed(2)
  if (kind === 'progress' && isRecord(value)) return formatProgress(value)
  if (typeof value === 'number' && Number.isInteger(value)) return formatCount(value)
  return toPlainText(value)
}

/** `page 120 of 872` */
function formatProgress({ unit, at, total }: Record<string, unknown>): string {
  return `${toPlainText(unit)} ${toPlainText(at)}${total === undefined ? '' : ` of ${toPlainText(total)}`}`
}

/** Characters that make a spreadsheet read a cell as a formula, unless the cell is a number. */
const FORMULA = /^[=+\-@＝＋－＠\r]/
const NUMBER = /^[+-]?\d+(?:[.,]\d+)*(?:e[+-]?\d+)?$/i

/**
 * Formats a value for machines: one line without tabs, untruncated, times as ISO text. A backslash escapes tabs, line
 * ends, backslashes and the first character of a spreadsheet formula. `xargs` and `read` remove it.
 */
export function formatMachineCell(value: unknown, kind?: ColumnKind): string {
  const ms =
    typeof value !== 'number' ? undefined : kind === 'epoch' ? value : kind === 'seconds' ? value * 1000 : undefined
  const text = tty(ms === undefined ? toPlainText(value) : new Date(ms).toISOString())
  const line = text.replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n')
  return typeof value !== 'number' && FORMULA.test(line) && !NUMBER.test(line) ? `\\${line}` : line
}

function toPlainText(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  if (Array.isArray(value) && value.every((entry) => typeof entry !== 'object')) return value.join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** The dotted paths of an object's leaves; arrays are leaves. */
export function listLeafPaths(item: unknown, prefix = ''): string[] {
  if (!isRecord(item)) return prefix === '' ? [] : [prefix]
  const entries = Object.entries(item)
  if (entries.length === 0) return prefix === '' ? [] : [prefix]
  return entries.flatMap(([key, value]) => listLeafPaths(value, prefix === '' ? key : `${prefix}.${key}`))
}
