import { setTimeout as sleep } from 'node:timers/promises'
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { getConfigurationHint } from '../../cli/configuration-hint.js'
import { formatSpaceStatus } from '../../cli/space-status.js'
import { writeControls } from '../../cli/terminal-writer.js'
import type { Client } from '../../client/client.js'
import type { KnowledgeSpaceStatus } from '../../contract/gateway/space-status.js'

const REFRESH_MS = 2000
/** Maximum number of open jobs that are counted. */
const MAX_OPEN_JOBS = 100

export default class SpacesStatus extends BaseCommand {
  static override summary = 'show documents, running work and problems of a space'
  static override examples = ['<%= config.bin %> spaces status example-space --watch']
  static override args = { space: Args.string({ description: 'slug or id' }) }
  static override flags = {
    ...spaceFlag,
    all: Flags.boolean({ description: 'also show each index, leases, sessions and commits' }),
    watch: Flags.boolean({ description: 'refresh every 2 s until Ctrl-C' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(SpacesStatus)
    const { id } = await this.spaceOf(args.space)
    const client = await this.client()
    do {
      const status = await client.request('GET /knowledge-spaces/{id}/status', { path: { id } })
      if (this.out.format === 'table' && this.common.output.fields === undefined) {
        const lines = await this.formatStatus(client, status, { isAll: flags.all })
        if (flags.watch) writeControls(process.stdout, '\u001b[H\u001b[2J')
        for (const line of lines) this.out.styled(line)
        const hint = getConfigurationHint(lines.join('\n'), { isLocal: this.settings.service.value.kind === 'local' })
        if (hint !== undefined) this.out.note(`hint: ${hint}`)
      } else this.out.record(status)
      if (flags.watch) await sleep(REFRESH_MS, undefined, { signal: this.deadline.signal })
    } while (flags.watch)
  }

  private async formatStatus(
    client: Client,
    status: KnowledgeSpaceStatus,
    options: { isAll: boolean },
  ): Promise<string[]> {
    const path = { id: status.knowledgeSpaceId }
    const query = { state: 'open' as const, limit: MAX_OPEN_JOBS }
    const [stats, jobs] = await Promise.all([
      client.request('GET /knowledge-spaces/{id}/stats', { path, query: {} }),
      client.request('GET /knowledge-spaces/{id}/jobs', { path, query }),
    ])
    const reading = { status, stats, openJobs: jobs.items.length, maxOpenJobs: MAX_OPEN_JOBS }
    return formatSpaceStatus(reading, { ...options, paint: (colour, text) => this.out.paint(colour, text) })
  }
}
