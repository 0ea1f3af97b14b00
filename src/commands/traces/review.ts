import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { usageError } from '../../cli/cli-error.js'
import { findMissingEvidence } from '../../cli/quality.js'
import { resolveId } from '../../cli/resolve.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

export default class TracesReview extends BaseCommand {
  static override summary = 'dismiss an item of missing evidence, or activate it again'
  static override examples = [
    '<%= config.bin %> traces review \'#9f31c2aa\' missing-1 --dismiss --reason "not our subject"',
    "<%= config.bin %> traces review '#9f31c2aa' missing-1 --activate",
  ]
  static override args = {
    id: Args.string({ required: true, description: 'id of the trace' }),
    item: Args.string({ required: true, description: 'name or key of the item, from `ks traces missing`' }),
  }
  static override flags = {
    dismiss: Flags.boolean({ description: 'ignore the item', exclusive: ['activate'] }),
    activate: Flags.boolean({ description: 'count the item again' }),
    reason: Flags.string({ helpValue: 'text', description: 'reason for the decision' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(TracesReview)
    if (!flags.dismiss && !flags.activate) throw usageError('no decision is given', 'give `--dismiss` or `--activate`')
    const traceId = resolveId('trace', args.id, this.dirs.cache)
    const client = await this.client()
    const { spaceId, itemKey, revision } = await findMissingEvidence(client, traceId, args.item)
    const review = await client.request('PATCH /knowledge-spaces/{id}/quality/traces/{traceId}/missing/{itemKey}', {
      path: { id: spaceId, traceId, itemKey },
      body: {
        expectedRevision: revision,
        status: flags.dismiss ? 'dismissed' : 'active',
        ...omitUndefined({ reason: flags.reason }),
      },
    })
    this.out.record(review)
  }
}
