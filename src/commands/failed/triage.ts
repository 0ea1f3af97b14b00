import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { usageError } from '../../cli/cli-error.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { expectFlags, readExpectedAnswer } from '../../cli/golden/expect-flags.js'
import { FAILED_COLUMNS } from '../../cli/quality.js'
import { resolveId } from '../../cli/resolve.js'
import { LIMITS } from '../../contract/limits.js'
import { FAILED_QUERY_VERDICTS } from '../../contract/values.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

export default class FailedTriage extends BaseCommand {
  static override summary = 'find the causes of pending failed queries, or set the cause of one'
  static override description =
    'Without ID, a wider search and the model of the space find the causes. The cause retrieval-miss also creates a golden question.'
  static override examples = [
    '<%= config.bin %> failed triage --space example-space --limit 50',
    "<%= config.bin %> failed triage '#a1b2c3d4' retrieval-miss --expect '#9f31c2aa' --space example-space",
    "<%= config.bin %> failed triage '#a1b2c3d4' irrelevant --space example-space",
  ]
  static override args = {
    id: Args.string({ description: 'id of the failed query' }),
    cause: Args.string({ description: FAILED_QUERY_VERDICTS.join(', ') }),
  }
  static override flags = {
    ...spaceFlag,
    limit: Flags.integer({
      char: 'n',
      min: 1,
      max: 200,
      helpValue: 'n',
      description: 'maximum queries without ID (default 50)',
    }),
    expect: Flags.string({
      multiple: true,
      multipleNonGreedy: true,
      helpValue: 'id',
      description: 'id of a passage that answers it; repeatable',
    }),
    ...expectFlags,
    note: Flags.string({ helpValue: 'text', description: 'remark' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(FailedTriage)
    if (args.id === undefined) return await this.triagePending(flags.limit)
    const verdict = FAILED_QUERY_VERDICTS.find((candidate) => candidate === args.cause)
    if (verdict === undefined) {
      const received = args.cause === undefined ? 'none is given' : `received ${JSON.stringify(args.cause)}`
      throw usageError(`the cause must be one of ${FAILED_QUERY_VERDICTS.join(', ')}, ${received}`)
    }
    const { id } = await this.space()
    const failedQueryId = resolveId('failed query', args.id, this.dirs.cache)
    const expectedEvidenceIds = flags.expect?.map((passageId) => resolveId('passage', passageId, this.dirs.cache))
    const client = await this.client()
    const updated = await client.request('PATCH /knowledge-spaces/{id}/failed-queries/{failedQueryId}', {
      path: { id, failedQueryId },
      body: {
        verdict,
        ...omitUndefined({ expectedEvidenceIds, expect: readExpectedAnswer(flags), note: flags.note }),
      },
    })
    this.out.record(updated, {
      columns: [...FAILED_COLUMNS, { field: 'metadata.verdict.goldenQuestionId', title: 'GOLDEN' }],
    })
  }

  private async triagePending(limit: number | undefined): Promise<void> {
    const { id } = await this.space()
    const client = await this.client()
    const report = await client.request('POST /knowledge-spaces/{id}/failed-queries/triage', {
      path: { id },
      query: omitUndefined({ limit }),
    })
    this.out.record(report)
    if (report.triaged >= (limit ?? LIMITS.triageBatch.default)) this.out.note('there may be more: run it again')
  }
}
