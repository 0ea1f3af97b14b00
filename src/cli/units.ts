import { usageError } from './cli-error.js'

/** Parses and formats numbers, sizes and times. */

const KIB = 1024
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB']

/** `1.4 MiB` */
export function formatBytes(size: number): string {
  let value = size
  let unit = 0
  while (value >= KIB && unit < UNITS.length - 1) {
    value /= KIB
    unit += 1
  }
  // Rounding reached 1024: use the next unit.
  if (Math.round(value) >= KIB && unit < UNITS.length - 1) {
    value /= KIB
    unit += 1
  }
  const digits = unit === 0 || value >= 100 ? 0 : 1
  return `${value.toFixed(digits)} ${UNITS[unit]}`
}

/** `1,902` */
export function formatCount(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ',')
}

/** `3 files`, `1 file` */
export function pluralize(value: number, singular: string, many = `${singular}s`): string {
  return `${formatCount(value)} ${value === 1 ? singular : many}`
}

const MINUTE = 60
const HOUR = 3600
const DAY = 86_400

/** `3 min ago`, `yesterday`, `2026-11-21` */
export function formatAge(iso: string, now: number = Date.now()): string {
  const then = Date.parse(iso)
  if (Number.isNaN(then)) return iso
  const seconds = Math.round((now - then) / 1000)
  if (seconds < -5) return iso.slice(0, 16).replace('T', ' ')
  if (seconds < 10) return 'just now'
  if (seconds < MINUTE) return `${seconds} s ago`
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min ago`
  if (seconds < DAY) return `${Math.floor(seconds / HOUR)} h ago`
  if (seconds < 2 * DAY) return 'yesterday'
  if (seconds < 14 * DAY) return `${Math.floor(seconds / DAY)} days ago`
  return iso.slice(0, 10)
}

/** `312 ms`, `4.2 s`, `3 h 12 min` */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  const seconds = ms / 1000
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  if (seconds < 2 * MINUTE) return `${Math.round(seconds)} s`
  if (seconds < 2 * HOUR) return `${Math.floor(seconds / MINUTE)} min`
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)} h ${Math.floor((seconds % HOUR) / MINUTE)} min`
  return `${Math.floor(seconds / DAY)} days`
}

const SPAN_UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Parses `500ms`, `30s`, `90m`, `12h`, `7d` to milliseconds. @throws CliError exit 2 */
export function parseSpan(text: string, name: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text.trim())
  const factor = SPAN_UNITS_MS[match?.[2] ?? '']
  if (match === null || factor === undefined) {
    throw usageError(`${name} must be a time such as 30s, 90m, 12h or 7d, received ${JSON.stringify(text)}`)
  }
  return Math.round(Number(match[1]) * factor)
}

/** Parses `512`, `20K`, `1.5MiB` to bytes; all units are powers of 1024. @throws CliError exit 2 */
export function parseSize(text: string, name: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?$/i.exec(text.trim())
  if (match === null) {
    throw usageError(`${name} must be a size such as 20M or 1.5GiB, received ${JSON.stringify(text)}`)
  }
  const power = ['', 'K', 'M', 'G', 'T'].indexOf((match[2] ?? '').toUpperCase())
  return Math.round(Number(match[1]) * KIB ** power)
}
