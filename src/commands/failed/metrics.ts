import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'

export default class FailedMetrics extends BaseCommand {
  static override summary = 'count failed queries by status'
  static override examples = ['<%= config.bin %> failed metrics --space example-space']
  static override flags = { ...spaceFlag }

  async run(): Promise<void> {
    await this.parse(FailedMetrics)
    const { id } = await this.space()
    const client = await this.client()
    this.out.record(await client.request('GET /knowledge-spaces/{id}/failed-queries/metrics', { path: { id } }))
  }
}
