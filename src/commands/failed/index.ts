import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { listFlags, spaceFlag } from '../../cli/common-flags.js'
import { FAILED_COLUMNS, FAILED_FIELDS } from '../../cli/quality.js'
import { paginate } from '../../client/pages.js'
import { FAILED_QUERY_STATUSES } from '../../contract/values.js'

export default class Failed extends BaseCommand {
  static override isPaged = true
  static override summary = 'list queries without a good answer, newest first'
  static override aliases = ['failed:list', 'failed:ls']
  static override examples = [
    '<%= config.bin %> failed --space example-space --status pending-triage',
    '<%= config.bin %> failed --space example-space --all --format jsonl --fields query,trigger',
  ]
  static override flags = {
    ...spaceFlag,
    ...listFlags,
    status: Flags.option({ options: FAILED_QUERY_STATUSES, description: 'status of the queries' })(),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Failed)
    const { id } = await this.space()
    const client = await this.client()
    const filter = flags.status === undefined ? {} : { status: flags.status }
    const failed = paginate(
      (page) =>
        client.request('GET /knowledge-spaces/{id}/failed-queries', { path: { id }, query: { ...filter, ...page } }),
      { ...this.getListRange(flags), pageSize: 200 },
    )
    await this.list(failed, { columns: FAILED_COLUMNS, fields: FAILED_FIELDS, empty: 'No failed queries.' })
  }
}
