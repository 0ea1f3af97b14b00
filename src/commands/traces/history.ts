import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { findMissingEvidence, HISTORY_COLUMNS, HISTORY_FIELDS } from '../../cli/quality.js'
import { resolveId } from '../../cli/resolve.js'

export default class TracesHistory extends BaseCommand {
  static override summary = 'list the reviews of an item of missing evidence'
  static override examples = ["<%= config.bin %> traces history '#9f31c2aa' missing-1"]
  static override args = {
    id: Args.string({ required: true, description: 'id of the trace' }),
    item: Args.string({ required: true, description: 'name or key of the item, from `ks traces missing`' }),
  }

  async run(): Promise<void> {
    const { args } = await this.parse(TracesHistory)
    const traceId = resolveId('trace', args.id, this.dirs.cache)
    const client = await this.client()
    const { spaceId, itemKey } = await findMissingEvidence(client, traceId, args.item)
    const { items } = await client.request(
      'GET /knowledge-spaces/{id}/quality/traces/{traceId}/missing/{itemKey}/history',
      { path: { id: spaceId, traceId, itemKey } },
    )
    await this.out.list(items, {
      columns: HISTORY_COLUMNS,
      fields: HISTORY_FIELDS,
      empty: 'No reviews yet.',
      hint: '`ks traces review` adds one',
    })
  }
}
