import { setTimeout as sleep } from 'node:timers/promises'
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { formatMissingVectors } from '../../cli/doctor/vectors.js'
import { ttyLine } from '../../cli/terminal.js'
import { writeControls } from '../../cli/terminal-writer.js'
import type { KnowledgeSpaceStatus } from '../../contract/gateway/space-status.js'

type PictureSummary = NonNullable<KnowledgeSpaceStatus['index']['pictures']>

const REFRESH_MS = 2000

export default class SpacesStatus extends BaseCommand {
  static override summary = 'show indexes, leases, sessions and failed commits of a space'
  static override examples = ['<%= config.bin %> spaces status example-space --watch']
  static override args = { space: Args.string({ description: 'slug or id' }) }
  static override flags = { ...spaceFlag, watch: Flags.boolean({ description: 'refresh every 2 s until Ctrl-C' }) }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(SpacesStatus)
    const { id } = await this.spaceOf(args.space)
    const client = await this.client()
    do {
      const status = await client.request('GET /knowledge-spaces/{id}/status', { path: { id } })
      if (flags.watch && this.out.format === 'table') writeControls(process.stdout, '\u001b[H\u001b[2J')
      this.printStatus(status)
      if (flags.watch) await sleep(REFRESH_MS, undefined, { signal: this.deadline.signal })
    } while (flags.watch)
  }

  private printStatus(status: KnowledgeSpaceStatus): void {
    if (this.out.format !== 'table') {
      this.out.record(status)
      return
    }
    const { summaries } = status.index
    const health = status.storage.healthy ? this.out.paint('green', 'healthy') : this.out.paint('red', 'not healthy')
    this.out.styled(`storage      ${health} · ${ttyLine(status.storage.provider)}`)
    for (const [name, summary] of Object.entries(summaries)) {
      const rest = Object.entries(summary).filter(([state, count]) => state !== 'total' && count > 0)
      const states = rest.map(([state, count]) => `${count} ${state}`).join(', ')
      this.out.line(`${name.padEnd(13)}${summary.total} projections${states === '' ? '' : `: ${states}`}`)
    }
    for (const reason of status.index.degraded ?? []) this.out.line(`degraded     ${reason}`)
    if (status.index.missingVectors !== undefined)
      this.out.line(`vectors      ${formatMissingVectors(status.index.missingVectors)}`)
    if (status.index.pictures !== undefined) this.out.line(`pictures     ${formatPictures(status.index.pictures)}`)
    this.out.line(`leases       ${status.activeLeases.count} active`)
    this.out.line(`sessions     ${status.activeSessions.count} active`)
    this.out.line(`commits      ${status.failedCommits.count} failed`)
  }
}

function formatPictures({ described, refused, error, permanent }: PictureSummary): string {
  const parts = [`${described} described`, ...(refused > 0 ? [`${refused} refused`] : [])]
  if (error !== undefined) parts.push(`${permanent === true ? 'stopped' : 'waiting'}: ${ttyLine(error)}`)
  return parts.join(', ')
}
