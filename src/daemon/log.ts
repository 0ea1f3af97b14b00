import { type Logger, pino, stdSerializers } from 'pino'
import type { LogLevel } from '../local/settings.js'
import type { Redactor } from './redact.js'
import { openRotatingFile } from './rotating-file.js'

const MAX_BYTES = 10 * 1024 * 1024
const FILES = 5

export interface DaemonLog {
  logger: Logger
  close(): void
}

/**
 * The daemon's log: JSON lines in a file of bounded size, and on stderr as well when somebody sits at the terminal.
 */
export function openLog(options: { path: string; level: LogLevel; redactor: Redactor; echo: boolean }): DaemonLog {
  const { redactor } = options
  const file = openRotatingFile(options.path, { maxBytes: MAX_BYTES, files: FILES })
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
        if (options.echo) process.stderr.write(safe)
      },
    },
  )
  return { logger, close: () => file.close() }
}
