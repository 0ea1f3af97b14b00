import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { usageError } from '../../cli/cli-error.js'
import { findMissing } from '../../cli/quality.js'
import { resolveId } from '../../cli/resolve.js'
import { defined } from '../../lib/defined.js'

export default class TracesReview extends BaseCommand {
  static override summary = 'dismiss a piece of missing evidence, or make it count again'
  static override examples = [
    '<%= config.bin %> traces review \'#9f31c2aa\' missing-1 --dismiss --reason "not our subject"',
    "<%= config.bin %> traces review '#9f31c2aa' missing-1 --activate",
  ]
  static override args = {
    id: Args.string({ required: true, description: 'id of the trace' }),
    item: Args.string({ required: true, description: 'name or key of the item, as `ks traces missing` shows it' }),
  }
  static override flags = {
    dismiss: Flags.boolean({ description: 'the gap is none', exclusive: ['activate'] }),
    activate: Flags.boolean({ description: 'the gap counts' }),
    reason: Flags.string({ helpValue: 'text', description: 'why' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(TracesReview)
    if (!flags.dismiss && !flags.activate) throw usageError('nothing is decided', 'give `--dismiss` or `--activate`')
    const traceId = resolveId('trace', args.id, this.dirs.cache)
    const client = await this.client()
    const { spaceId, itemKey, revision } = await findMissing(client, traceId, args.item)
    const review = await client.request('PATCH /knowledge-spaces/{id}/quality/traces/{traceId}/missing/{itemKey}', {
      path: { id: spaceId, traceId, itemKey },
      body: {
        expectedRevision: revision,
        status: flags.dismiss ? 'dismissed' : 'active',
        ...defined({ reason: flags.reason }),
      },
    })
    this.out.record(review)
  }
}
