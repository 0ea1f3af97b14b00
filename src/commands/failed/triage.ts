import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { LIMITS } from '../../contract/limits.js'

export default class FailedTriage extends BaseCommand {
  static override summary = 'triage pending failed queries with a wider search and the model of the space'
  static override examples = ['<%= config.bin %> failed triage --space example-space --limit 50']
  static override flags = {
    ...spaceFlag,
    limit: Flags.integer({ min: 1, max: 200, helpValue: 'n', description: 'maximum queries (default 50)' }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(FailedTriage)
    const { id } = await this.space()
    const client = await this.client()
    const report = await client.request('POST /knowledge-spaces/{id}/failed-queries/triage', {
      path: { id },
      query: flags.limit === undefined ? {} : { limit: flags.limit },
    })
    this.out.record(report)
    if (report.triaged >= (flags.limit ?? LIMITS.triageBatch.default)) this.out.note('there may be more: run it again')
  }
}
