import { tty, ttyLine } from './terminal.js'
import { ago, bytes, count } from './units.js'

/** How a field is shown to people; machines get the value as it is. Times: ISO text, epoch in milliseconds, in seconds. */
export type Kind = 'text' | 'id' | 'time' | 'epoch' | 'seconds' | 'bytes' | 'count' | 'state'

/** One column of a list, or one line of a record. */
export interface Column {
  /** name or dotted path in the item */
  field: string
  /** heading; the field in capitals when absent */
  title?: string
  kind?: Kind
}

/** Value at a dotted path, or undefined. */
export function valueAt(item: unknown, path: string): unknown {
  let value: unknown = item
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined
    value = Object.getOwnPropertyDescriptor(value, key)?.value
  }
  return value
}

/** The last 8 hex digits of an id: UUIDv7 begins with the time, so only its end tells ids apart. */
export function shortId(id: string): string {
  return `#${id.replaceAll('-', '').slice(-8)}`
}

/** A cell for people. */
export function show(value: unknown, kind: Kind | undefined, now: number = Date.now()): string {
  if (value === undefined || value === null) return ''
  if (kind === 'time' && typeof value === 'string') return ago(value, now)
  if (kind === 'epoch' && typeof value === 'number') return ago(new Date(value).toISOString(), now)
  if (kind === 'seconds' && typeof value === 'number') return ago(new Date(value * 1000).toISOString(), now)
  if (kind === 'bytes' && typeof value === 'number') return bytes(value)
  if (kind === 'id' && typeof value === 'string') return shortId(value)
  if (typeof value === 'number' && Number.isInteger(value)) return count(value)
  return ttyLine(plain(value))
}

/** A cell for machines: one line, no tabs, full values, times as ISO. */
export function cell(value: unknown, kind?: Kind): string {
  const ms =
    typeof value !== 'number' ? undefined : kind === 'epoch' ? value : kind === 'seconds' ? value * 1000 : undefined
  const text = tty(ms === undefined ? plain(value) : new Date(ms).toISOString())
  return text.replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n')
}

function plain(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  if (Array.isArray(value) && value.every((entry) => typeof entry !== 'object')) return value.join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** All dotted paths of an object's leaves; arrays are leaves. */
export function leaves(item: unknown, prefix = ''): string[] {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return prefix === '' ? [] : [prefix]
  const entries = Object.entries(item)
  if (entries.length === 0) return prefix === '' ? [] : [prefix]
  return entries.flatMap(([key, value]) => leaves(value, prefix === '' ? key : `${prefix}.${key}`))
}
