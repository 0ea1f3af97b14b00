import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { parseSpan } from '../../cli/units.js'

const MINUTE_MS = 60_000

export default class SpacesStats extends BaseCommand {
  static override summary = 'count documents, bytes and projections of a space'
  static override examples = ['<%= config.bin %> spaces stats example-space --window 24h']
  static override args = { space: Args.string({ description: 'slug or id' }) }
  static override flags = {
    ...spaceFlag,
    window: Flags.string({ helpValue: '60m', description: 'period of the counts, up to now' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(SpacesStats)
    const windowMinutes =
      flags.window === undefined ? undefined : Math.ceil(parseSpan(flags.window, '--window') / MINUTE_MS)
    const { id } = await this.spaceOf(args.space)
    const client = await this.client()
    const query = windowMinutes === undefined ? {} : { windowMinutes }
    this.out.record(await client.request('GET /knowledge-spaces/{id}/stats', { path: { id }, query }))
  }
}
