import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'

const COUNTS = ['total', 'completed', 'failed', 'imported', 'replaced', 'skipped']

export default class SourcesCrawl extends BaseCommand {
  static override summary = 'crawl the pages of a web source now'
  static override examples = ["<%= config.bin %> sources crawl '#a1b2c3d4' --space example-space"]
  static override args = { id: Args.string({ required: true, description: 'id of the source' }) }
  static override flags = { ...spaceFlag }

  async run(): Promise<void> {
    const { args } = await this.parse(SourcesCrawl)
    const path = await this.resolveSource(args.id)
    const client = await this.client()
    const result = await client.request('POST /knowledge-spaces/{id}/sources/{sourceId}/crawl', {
      path,
    })
    this.out.record(result, { columns: COUNTS.map((field) => ({ field })), fields: ['status', 'pages'] })
  }
}
