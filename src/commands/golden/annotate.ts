import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { GOLDEN_FIELDS } from '../../cli/quality.js'
import { resolveId } from '../../cli/resolve.js'
import { ANSWER_CORRECTNESS } from '../../contract/values.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

const REPEATABLE = { multiple: true, multipleNonGreedy: true } as const

export default class GoldenAnnotate extends BaseCommand {
  static override summary = 'judge the answer and the evidence of a golden question'
  static override examples = [
    "<%= config.bin %> golden annotate '#a1b2c3d4' --answer incorrect --irrelevant '#9f31c2aa' --space example-space",
  ]
  static override args = { id: Args.string({ required: true, description: 'id of the golden question' }) }
  static override flags = {
    ...spaceFlag,
    answer: Flags.option({ options: ANSWER_CORRECTNESS, required: true, description: 'correctness of the answer' })(),
    relevant: Flags.string({
      ...REPEATABLE,
      helpValue: 'id',
      description: 'id of a passage that answers it; repeatable',
    }),
    irrelevant: Flags.string({
      ...REPEATABLE,
      helpValue: 'id',
      description: 'id of a passage that does not answer it; repeatable',
    }),
    note: Flags.string({ helpValue: 'text', description: 'remark' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(GoldenAnnotate)
    const { id } = await this.space()
    const questionId = resolveId('golden question', args.id, this.dirs.cache)
    const toJudgments = (ids: string[] | undefined, relevant: boolean) =>
      (ids ?? []).map((passageId) => ({ evidenceId: resolveId('passage', passageId, this.dirs.cache), relevant }))
    const client = await this.client()
    const question = await client.request('POST /knowledge-spaces/{id}/golden-questions/{questionId}/annotations', {
      path: { id, questionId },
      body: {
        answerCorrectness: flags.answer,
        evidenceRelevance: [...toJudgments(flags.relevant, true), ...toJudgments(flags.irrelevant, false)],
        ...omitUndefined({ note: flags.note }),
      },
    })
    this.out.record(question, { fields: GOLDEN_FIELDS })
  }
}
