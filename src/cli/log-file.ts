import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseRecord, toNonEmptyString } from '../lib/json/values.js'
import { resolveDataLayout } from '../local/layout.js'
import { ttyLine } from './terminal.js'

const LOG_POLL_INTERVAL_MS = 250
const READ_BYTES = 64 * 1024

const LEVELS: Readonly<Record<string, number>> = { debug: 20, info: 30, warn: 40, error: 50, fatal: 60 }
const LEVEL_NAMES = new Map(Object.entries(LEVELS).map(([name, number]) => [number, name]))

/** Reads the last non-empty lines of a log; none if the file does not exist. */
export function readLastLines(path: string, count: number): string[] {
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8').split('\n')
  return lines.filter((line) => line !== '').slice(-count)
}

/** Yields lines appended from now on. After a rotation, the new file is read from its start. */
export async function* followLines(path: string, signal: AbortSignal): AsyncGenerator<string> {
  let file = existsSync(path) ? openSync(path, 'r') : undefined
  let offset = file === undefined ? 0 : fstatSync(file).size
  let partialLine = ''
  const buffer = Buffer.alloc(READ_BYTES)
  try {
    for (;;) {
      for (;;) {
        const byteCount = file === undefined ? 0 : readSync(file, buffer, 0, READ_BYTES, offset)
        if (byteCount === 0) break
        offset += byteCount
        const lines = (partialLine + buffer.toString('utf8', 0, byteCount)).split('\n')
        partialLine = lines.pop() ?? ''
        yield* lines
      }
      const current = statSync(path, { throwIfNoEntry: false })
      if (
        current !== undefined &&
        (file === undefined || fstatSync(file).ino !== current.ino || current.size < offset)
      ) {
        if (file !== undefined) closeSync(file)
        file = openSync(path, 'r')
        offset = 0
        partialLine = ''
        continue
      }
      await sleep(LOG_POLL_INTERVAL_MS, undefined, { signal })
    }
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/** Whether a line of the log has at least this level; lines that are not JSON always pass. */
export function hasLevel(line: string, level: string): boolean {
  const entry = parseRecord(line)
  return entry === undefined || toLevelNumber(entry.level) >= (LEVELS[level] ?? 0)
}

function toLevelNumber(level: unknown): number {
  return typeof level === 'number' ? level : (LEVELS[String(level)] ?? 0)
}

/** `08:14:02 warn  no unix socket  path=/run/sock` */
export function formatLogLine(line: string): string {
  const entry = parseRecord(line)
  if (entry === undefined) return ttyLine(line)
  const { level, time, msg, pid: _, hostname: __, ...others } = entry
  const date = new Date(typeof time === 'string' || typeof time === 'number' ? time : Number.NaN)
  const timeText = Number.isNaN(date.getTime()) ? '--:--:--' : date.toISOString().slice(11, 19)
  const name = LEVEL_NAMES.get(toLevelNumber(level)) ?? String(level)
  const fields = Object.entries(others).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  return ttyLine([timeText, name.padEnd(5), toNonEmptyString(msg) ?? '', fields.join(' ')].join(' '))
}

export function getDaemonLogPath(dataDir: string): string {
  return resolveDataLayout(dataDir).log
}
