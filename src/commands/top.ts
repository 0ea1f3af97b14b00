import { setTimeout as sleep } from 'node:timers/promises'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.js'
import { usageError } from '../cli/cli-error.js'
import { spaceFlag } from '../cli/common-flags.js'
import { connect } from '../cli/connect.js'
import { isColourEnabled } from '../cli/terminal.js'
import { toTopRecord } from '../cli/top/record.js'
import { TopSession } from '../cli/top/session.js'
import { TOP_SORTS } from '../cli/top/state.js'
import { parseSpan } from '../cli/units.js'

/** rates need two readings with this interval */
const READING_INTERVAL_MS = 500
const MIN_INTERVAL_MS = 200
const MAX_INTERVAL_MS = 3_600_000

export default class Top extends BaseCommand {
  static override summary = 'monitor a service: its processes, requests, queues, jobs, spaces and models'
  static override description =
    'Shows a live view at a terminal, one reading in a pipe, or with --json a line for each interval until it is interrupted. Keys: j, k and arrows move, Enter shows one space alone, s sorts, p pauses, ? lists the keys, q exits. Metrics of the complete daemon are shown to its operator only; other tokens see their own spaces and jobs.'
  static override examples = [
    '<%= config.bin %> top',
    '<%= config.bin %> top --once',
    '<%= config.bin %> top --json --once',
    '<%= config.bin %> top --space example-space --interval 1s',
  ]
  static override flags = {
    ...spaceFlag,
    interval: Flags.string({ default: '2s', helpValue: '2s', description: 'time between two readings' }),
    once: Flags.boolean({ description: 'print one reading and exit' }),
    sort: Flags.option({ options: TOP_SORTS, default: 'backlog', description: 'sort order of the spaces' } as const)(),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Top)
    const intervalMs = parseSpan(flags.interval, '--interval')
    if (intervalMs < MIN_INTERVAL_MS || intervalMs > MAX_INTERVAL_MS)
      throw usageError(`--interval must be from 200ms to 1h, received ${JSON.stringify(flags.interval)}`)
    const filter = flags.space === undefined ? undefined : (await this.resolveSpace(flags.space)).space?.slug
    // Starts a daemon if needed, like other commands. A daemon that stops later is not started again.
    await this.client()
    const location = this.settings.service.value
    const serviceName = location.kind === 'local' ? 'local daemon' : new URL(location.url).host
    const session = new TopSession(() => connect(location, { autostart: false }), {
      serviceName,
      intervalMs,
      sort: flags.sort,
      filter: filter ?? flags.space,
    })
    this.deadline.signal.addEventListener('abort', () => session.stop())
    try {
      if (flags.once || (!this.out.isJson && !isTerminal())) await this.printOnce(session)
      else if (this.out.isJson) await this.printEachInterval(session)
      else await this.showView(session)
    } finally {
      session.close()
    }
  }

  private async printEachInterval(session: TopSession): Promise<void> {
    // Reports a missing permission at once.
    await session.read()
    await session.run(() => this.out.event('top', toTopRecord(session.getState())))
  }

  private async printOnce(session: TopSession): Promise<void> {
    await session.read()
    await sleep(READING_INTERVAL_MS)
    await session.read()
    if (this.out.isJson) return this.out.json(toTopRecord(session.getState()))
    const { renderTop } = await import('../cli/top/view.js')
    const lines = renderTop(session.getState(), { columns: this.out.width, rows: undefined }, Date.now())
    for (const { text } of lines) this.out.line(text)
  }

  private async showView(session: TopSession): Promise<void> {
    await session.read()
    const { showTop } = await import('../cli/top/screen.js')
    const colour = isColourEnabled({ override: this.common.output.colour, isTTY: true, env: process.env })
    await showTop(session, { colour })
  }
}

function isTerminal(): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true && process.env.TERM !== 'dumb'
}
