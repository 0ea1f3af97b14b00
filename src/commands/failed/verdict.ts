import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { usageError } from '../../cli/cli-error.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { expectFlags, readExpectedAnswer } from '../../cli/golden/expect-flags.js'
import { FAILED_COLUMNS, FAILED_FIELDS } from '../../cli/quality.js'
import { resolveId } from '../../cli/resolve.js'
import { FAILED_QUERY_VERDICTS } from '../../contract/values.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

export default class FailedVerdict extends BaseCommand {
  static override summary = 'set the cause of a failed query; retrieval-miss also creates a golden question'
  static override examples = [
    "<%= config.bin %> failed verdict '#a1b2c3d4' retrieval-miss --expect '#9f31c2aa' --space example-space",
    "<%= config.bin %> failed verdict '#a1b2c3d4' irrelevant --space example-space",
  ]
  static override args = {
    id: Args.string({ required: true, description: 'id of the failed query' }),
    verdict: Args.string({ required: true, description: FAILED_QUERY_VERDICTS.join(', ') }),
  }
  static override flags = {
    ...spaceFlag,
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
    const { args, flags } = await this.parse(FailedVerdict)
    const verdict = FAILED_QUERY_VERDICTS.find((candidate) => candidate === args.verdict)
    if (verdict === undefined) {
      throw usageError(
        `verdict must be one of ${FAILED_QUERY_VERDICTS.join(', ')}, received ${JSON.stringify(args.verdict)}`,
      )
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
      fields: FAILED_FIELDS,
    })
  }
}
