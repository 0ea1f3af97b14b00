import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { formatSpaceStats } from '../../cli/space-status.js'
import { parseSpan } from '../../cli/units.js'

const MINUTE_MS = 60_000

export default class SpacesStats extends BaseCommand {
  static override summary = 'count documents, bytes and passages of a space'
  static override examples = ['<%= config.bin %> spaces stats example-space --window 24h']
  static override args = { space: Args.string({ description: 'slug or id' }) }
  static override flags = {
    ...spaceFlag,
    all: Flags.boolean({ description: 'also show internal counts' }),
    window: Flags.string({ helpValue: '60m', description: 'period of the failures, up to now' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(SpacesStats)
    const windowMinutes =
      flags.window === undefined ? undefined : Math.ceil(parseSpan(flags.window, '--window') / MINUTE_MS)
    const { id } = await this.spaceOf(args.space)
    const client = await this.client()
    const query = windowMinutes === undefined ? {} : { windowMinutes }
    const stats = await client.request('GET /knowledge-spaces/{id}/stats', { path: { id }, query })
    const isShort = this.out.format === 'table' && this.common.output.fields === undefined && !flags.all
    if (isShort) for (const line of formatSpaceStats(stats)) this.out.line(line)
    else this.out.record(stats)
  }
}
