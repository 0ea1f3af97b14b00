import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { expectFlags, readExpectedAnswer } from '../../cli/golden/expect-flags.js'
import { GOLDEN_COLUMNS, GOLDEN_FIELDS } from '../../cli/quality.js'
import { resolveId } from '../../cli/resolve.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

export default class TracesBadCase extends BaseCommand {
  static override summary = 'create a golden question from a query with a bad result'
  static override examples = [
    '<%= config.bin %> traces bad-case \'#9f31c2aa\' --reason "cites the old policy" --tag policy',
    '<%= config.bin %> traces bad-case \'#9f31c2aa\' --expect-answer "four weeks" --expect-not "two weeks"',
  ]
  static override args = { id: Args.string({ required: true, description: 'id of the trace' }) }
  static override flags = {
    reason: Flags.string({ helpValue: 'text', description: 'what is wrong with the result' }),
    ...expectFlags,
    tag: Flags.string({
      helpValue: 'tag',
      multiple: true,
      multipleNonGreedy: true,
      description: 'tag; repeatable',
    }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(TracesBadCase)
    const traceId = resolveId('trace', args.id, this.dirs.cache)
    const client = await this.client()
    const { knowledgeSpaceId: id } = await client.request('GET /queries/{traceId}', { path: { traceId } })
    const question = await client.request('POST /knowledge-spaces/{id}/production-bad-cases', {
      path: { id },
      body: {
        traceId,
        tags: flags.tag ?? [],
        ...omitUndefined({ reason: flags.reason, expect: readExpectedAnswer(flags) }),
      },
    })
    this.out.record(question, { columns: GOLDEN_COLUMNS, fields: GOLDEN_FIELDS })
    if (this.out.format === 'table') this.out.note('hint: `ks golden annotate` marks relevant evidence')
  }
}
