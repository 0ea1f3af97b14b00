import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { usageError } from '../../cli/cli-error.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { expectFlags, readExpectedAnswer } from '../../cli/golden/expect-flags.js'
import { GOLDEN_COLUMNS } from '../../cli/quality.js'
import { resolveId } from '../../cli/resolve.js'
import { ANSWER_CORRECTNESS } from '../../contract/values.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

const REPEATABLE = { multiple: true, multipleNonGreedy: true } as const

export default class GoldenUpdate extends BaseCommand {
  static override summary = 'change a golden question, or judge its answer and evidence; other fields stay unchanged'
  static override examples = [
    "<%= config.bin %> golden update '#a1b2c3d4' --expect '#9f31c2aa' --space example-space",
    "<%= config.bin %> golden update '#a1b2c3d4' --no-tags --space example-space",
    "<%= config.bin %> golden update '#a1b2c3d4' --answer incorrect --irrelevant '#9f31c2aa' --space example-space",
  ]
  static override args = { id: Args.string({ required: true, description: 'id of the golden question, or last' }) }
  static override flags = {
    ...spaceFlag,
    question: Flags.string({ helpValue: 'text', description: 'new wording' }),
    expect: Flags.string({
      ...REPEATABLE,
      helpValue: 'id',
      description: 'ids of expected passages, replacing the previous ones',
    }),
    'no-expect': Flags.boolean({ description: 'expect no passages', exclusive: ['expect'] }),
    ...expectFlags,
    'no-expect-answer': Flags.boolean({
      description: 'expect no particular answer; the other flags replace the expected answer',
      exclusive: Object.keys(expectFlags),
    }),
    tag: Flags.string({ ...REPEATABLE, helpValue: 'tag', description: 'tags, replacing the previous ones' }),
    'no-tags': Flags.boolean({ description: 'remove all tags', exclusive: ['tag'] }),
    answer: Flags.option({ options: ANSWER_CORRECTNESS, description: 'correctness of the answer' })(),
    relevant: Flags.string({
      ...REPEATABLE,
      helpValue: 'id',
      dependsOn: ['answer'],
      description: 'id of a passage that answers it; repeatable',
    }),
    irrelevant: Flags.string({
      ...REPEATABLE,
      helpValue: 'id',
      dependsOn: ['answer'],
      description: 'id of a passage that does not answer it; repeatable',
    }),
    note: Flags.string({ helpValue: 'text', dependsOn: ['answer'], description: 'remark on the judgment' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(GoldenUpdate)
    const { question } = flags
    const expected = flags['no-expect'] ? [] : flags.expect
    const tags = flags['no-tags'] ? [] : flags.tag
    const expect = flags['no-expect-answer'] ? null : readExpectedAnswer(flags)
    const { answer } = flags
    const hasChange = [question, expected, tags, expect].some((value) => value !== undefined)
    if (!hasChange && answer === undefined) {
      throw usageError('nothing to change', 'give `--question`, `--expect`, `--expect-answer`, `--tag` or `--answer`')
    }
    const { id } = await this.space()
    const questionId = await this.resolveIdOrLast('golden question', args.id)
    const expectedEvidenceIds = expected?.map((passageId) => resolveId('passage', passageId, this.dirs.cache))
    const client = await this.client()
    const path = { id, questionId }
    const body = omitUndefined({ question, expectedEvidenceIds, tags, expect })
    const toJudgments = (ids: string[] | undefined, relevant: boolean) =>
      (ids ?? []).map((passageId) => ({ evidenceId: resolveId('passage', passageId, this.dirs.cache), relevant }))
    const judgments = [...toJudgments(flags.relevant, true), ...toJudgments(flags.irrelevant, false)]
    const updated = hasChange
      ? await client.request('PATCH /knowledge-spaces/{id}/golden-questions/{questionId}', { path, body })
      : undefined
    const judged =
      answer === undefined
        ? undefined
        : await client.request('POST /knowledge-spaces/{id}/golden-questions/{questionId}/annotations', {
            path,
            body: {
              answerCorrectness: answer,
              evidenceRelevance: judgments,
              ...omitUndefined({ note: flags.note }),
            },
          })
    const result = judged ?? updated
    if (result !== undefined) this.out.record(result, { columns: GOLDEN_COLUMNS })
  }
}
