import { usageError } from './cli-error.js'

/** Parses and formats numbers, sizes and times. */

const KIB = 1024
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB']

/** `1.4 MiB` */
export function formatBytes(bytes: number): string {
  let value = bytes
  let unitIndex = 0
  // Rounded, since 1023.9 would be shown as 1024.
  while (Math.round(value) >= KIB && unitIndex < UNITS.length - 1) {
    value /= KIB
    unitIndex += 1
  }
  const digits = unitIndex === 0 || value >= 100 ? 0 : 1
  return `${value.toFixed(digits)} ${UNITS[unitIndex]}`
}

const MINUTE_SECONDS = 60
const HOUR_SECONDS = 3600
const DAY_SECONDS = 86_400

/** `3 min ago`, `yesterday`, `2026-11-21` */
export function formatAge(iso: string, now: number = Date.now()): string {
  const then = Date.parse(iso)
  if (Number.isNaN(then)) return iso
  const seconds = Math.round((now - then) / 1000)
  if (seconds < -5) return iso.slice(0, 16).replace('T', ' ')
  if (seconds < 10) return 'just now'
  if (seconds < MINUTE_SECONDS) return `${seconds} s ago`
  if (seconds < HOUR_SECONDS) return `${Math.floor(seconds / MINUTE_SECONDS)} min ago`
  if (seconds < DAY_SECONDS) return `${Math.floor(seconds / HOUR_SECONDS)} h ago`
  if (seconds < 2 * DAY_SECONDS) return 'yesterday'
  if (seconds < 14 * DAY_SECONDS) return `${Math.floor(seconds / DAY_SECONDS)} days ago`
  return iso.slice(0, 10)
}

/** `312 ms`, `4.2 s`, `3 h 12 min` */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  const seconds = ms / 1000
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  if (seconds < 2 * MINUTE_SECONDS) return `${Math.round(seconds)} s`
  if (seconds < 2 * HOUR_SECONDS) return `${Math.floor(seconds / MINUTE_SECONDS)} min`
  if (seconds < 2 * DAY_SECONDS)
    return `${Math.floor(seconds / HOUR_SECONDS)} h ${Math.floor((seconds % HOUR_SECONDS) / MINUTE_SECONDS)} min`
  return `${Math.floor(seconds / DAY_SECONDS)} days`
}

const SPAN_UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Parses `500ms`, `30s`, `90m`, `12h`, `7d` to milliseconds. @param name of the flag @throws CliError exit 2 */
export function parseSpan(text: string, name: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text.trim())
  const factor = SPAN_UNITS_MS[match?.[2] ?? '']
  if (match === null || factor === undefined) {
    throw usageError(`${name} must be a time such as 30s, 90m, 12h or 7d, received ${JSON.stringify(text)}`)
  }
  return Math.round(Number(match[1]) * factor)
}

/** Parses `512`, `20K`, `1.5MiB` to bytes, in powers of 1024. @param name of the flag @throws CliError exit 2 */
export function parseSize(text: string, name: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?$/i.exec(text.trim())
  if (match === null) {
    throw usageError(`${name} must be a size such as 20M or 1.5GiB, received ${JSON.stringify(text)}`)
  }
  const power = ['', 'K', 'M', 'G', 'T'].indexOf((match[2] ?? '').toUpperCase())
  return Math.round(Number(match[1]) * KIB ** power)
}
