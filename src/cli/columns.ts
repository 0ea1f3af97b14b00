import { isRecord } from '../lib/json/values.js'
import { tty, ttyLine, ttyName } from './terminal.js'
import { ago, bytes, count } from './units.js'

/**
 * How a field is shown to people; machines get the raw value. Times: ISO text, epoch in milliseconds, epoch in seconds.
 */
export type Kind = 'text' | 'name' | 'id' | 'time' | 'epoch' | 'seconds' | 'bytes' | 'count' | 'state' | 'progress'

/** One column of a list, or one line of a record. */
export interface Column {
  /** Name or dotted path of the value in the item. */
  field: string
  /** Heading; by default the field in capitals. */
  title?: string
  kind?: Kind
}

/** The value at a dotted path, or `undefined`. */
export function valueAt(item: unknown, path: string): unknown {
  let value: unknown = item
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined
    value = Object.getOwnPropertyDescriptor(value, key)?.value
  }
  return value
}

/** The last 8 hex digits of an id: a UUIDv7 begins with the time, so only its end distinguishes ids. */
export function shortId(id: string): string {
  return `#${id.replaceAll('-', '').slice(-8)}`
}

/** Formats a value for people as one line without control characters. */
export function show(value: unknown, kind: Kind | undefined, now: number = Date.now()): string {
  if (value === undefined || value === null) return ''
  return kind === 'name' && typeof value === 'string' ? ttyName(value) : ttyLine(inWords(value, kind, now))
}

function inWords(value: unknown, kind: Kind | undefined, now: number): string {
  if (kind === 'time' && typeof value === 'string') return ago(value, now)
  if (kind === 'epoch' && typeof value === 'number') return ago(new Date(value).toISOString(), now)
  if (kind === 'seconds' && typeof value === 'number') return ago(new Date(value * 1000).toISOString(), now)
  if (kind === 'bytes' && typeof value === 'number') return bytes(value)
  if (kind === 'id' && typeof value === 'string') return shortId(value)
  if (kind === 'progress' && isRecord(value)) return reached(value)
  if (typeof value === 'number' && Number.isInteger(value)) return count(value)
  return plain(value)
}

/** `page 120 of 872` */
function reached({ unit, at, total }: Record<string, unknown>): string {
  return `${plain(unit)} ${plain(at)}${total === undefined ? '' : ` of ${plain(total)}`}`
}

/** Characters that make a spreadsheet read a cell as a formula, unless the cell is a number. */
const FORMULA = /^[=+\-@＝＋－＠\r]/
const NUMBER = /^[+-]?\d+(?:[.,]\d+)*(?:e[+-]?\d+)?$/i

/**
 * Formats a value for machines: one line without tabs, untruncated, times as ISO text. A backslash escapes tabs, line
 * ends, backslashes and the first character of a spreadsheet formula. `xargs` and `read` remove it.
 */
export function cell(value: unknown, kind?: Kind): string {
  const ms =
    typeof value !== 'number' ? undefined : kind === 'epoch' ? value : kind === 'seconds' ? value * 1000 : undefined
  const text = tty(ms === undefined ? plain(value) : new Date(ms).toISOString())
  const line = text.replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n')
  return typeof value !== 'number' && FORMULA.test(line) && !NUMBER.test(line) ? `\\${line}` : line
}

function plain(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  if (Array.isArray(value) && value.every((entry) => typeof entry !== 'object')) return value.join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** The dotted paths of an object's leaves; arrays are leaves. */
export function leafPaths(item: unknown, prefix = ''): string[] {
  if (!isRecord(item)) return prefix === '' ? [] : [prefix]
  const entries = Object.entries(item)
  if (entries.length === 0) return prefix === '' ? [] : [prefix]
  return entries.flatMap(([key, value]) => leafPaths(value, prefix === '' ? key : `${prefix}.${key}`))
}
