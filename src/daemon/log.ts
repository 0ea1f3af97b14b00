import { type Logger, pino, stdSerializers } from 'pino'
import type { LogLevel } from '../local/settings.js'
import type { Redactor } from './redact.js'
import { openRotatingFile } from './rotating-file.js'

const MAX_FILE_BYTES = 10 * 1024 * 1024
const MAX_FILES = 5
const INVISIBLE_CHARS = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

function escapeChar(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

export interface DaemonLog {
  logger: Logger
  close(): void
}

/** Opens the daemon's log: JSON lines in a file of limited size, and on stderr if a terminal is attached. */
export function openLog(options: { path: string; level: LogLevel; redactor: Redactor; echo: boolean }): DaemonLog {
  const { redactor } = options
  const file = openRotatingFile(options.path, { maxBytes: MAX_FILE_BYTES, files: MAX_FILES })
  const logger = pino(
    {
      level: options.level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: stdSerializers.err },
      formatters: { level: (label) => ({ level: label }), log: (fields) => redactor.fields(fields) },
    },
    {
      write: (line: string) => {
        const safe = redactor.line(line)
        file.write(safe)
        // JSON does not escape C1 controls and bidirectional marks, which could disturb the terminal.
        if (options.echo) process.stderr.write(safe.replace(INVISIBLE_CHARS, escapeChar))
      },
    },
  )
  return { logger, close: () => file.close() }
}
