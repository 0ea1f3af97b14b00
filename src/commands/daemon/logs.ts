import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { followLines, formatLogLine, getDaemonLogPath, hasLevel, readLastLines } from '../../cli/log-file.js'

const LEVELS = ['debug', 'info', 'warn', 'error'] as const

/** Parses a line of the log. Output of a crash is not JSON. */
function parseLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return { msg: line }
  }
}

export default class DaemonLogs extends BaseCommand {
  static override summary = "print the daemon's log: readable on a terminal, JSON lines in a pipe"
  static override isLocalOnly = true
  static override examples = ['<%= config.bin %> daemon logs -n 50', '<%= config.bin %> daemon logs -f --level warn']
  static override flags = {
    follow: Flags.boolean({ char: 'f', description: 'follow new lines until Ctrl-C' }),
    lines: Flags.integer({
      char: 'n',
      min: 0,
      default: 200,
      helpValue: 'n',
      description: 'count of lines from the end',
    }),
    level: Flags.option({ options: LEVELS, description: 'minimum level' })(),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(DaemonLogs)
    const path = getDaemonLogPath(this.dirs.data)
    const isPretty = this.out.format === 'table'
    const print = (line: string) => {
      if (flags.level === undefined || hasLevel(line, flags.level))
        this.out.text(`${isPretty ? formatLogLine(line) : line}\n`)
    }
    const lines = readLastLines(path, flags.lines)
    if (this.out.format === 'json' && !flags.follow) {
      const selected = lines.filter((line) => flags.level === undefined || hasLevel(line, flags.level))
      this.out.json(selected.map(parseLine))
      return
    }
    for (const line of lines) print(line)
    if (lines.length === 0 && !flags.follow) this.out.note(`No log yet at ${path}.`)
    if (!flags.follow) return
    for await (const line of followLines(path, this.deadline.signal)) print(line)
  }
}
