import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { listFlags } from '../../cli/common-flags.js'
import { resolveId } from '../../cli/resolve.js'
import { EVIDENCE_COLUMNS, VIRTUAL_FIELDS } from '../../cli/resources.js'
import { paginate } from '../../client/pages.js'

export default class TracesConflicts extends BaseCommand {
  static override isPaged = true
  static override summary = 'list evidence that contradicts other evidence of a query'
  static override examples = ["<%= config.bin %> traces conflicts '#9f31c2aa'"]
  static override args = { id: Args.string({ required: true, description: 'id of the trace' }) }
  static override flags = { ...listFlags }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(TracesConflicts)
    const traceId = resolveId('trace', args.id, this.dirs.cache)
    const client = await this.client()
    const items = paginate(
      (query) => client.request('GET /queries/{traceId}/conflicts', { path: { traceId }, query }),
      {
        ...this.getListRange(flags),
        pageSize: 100,
      },
    )
    await this.list(items, {
      columns: EVIDENCE_COLUMNS,
      fields: VIRTUAL_FIELDS,
      empty: 'No evidence contradicts other evidence.',
    })
  }
}
