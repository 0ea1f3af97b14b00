import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { usageError } from '../../cli/cli-error.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { expectFlags, readExpectedAnswer } from '../../cli/golden/expect-flags.js'
import { GOLDEN_COLUMNS, GOLDEN_FIELDS } from '../../cli/quality.js'
import { resolveId } from '../../cli/resolve.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

const REPEATABLE = { multiple: true, multipleNonGreedy: true } as const

export default class GoldenUpdate extends BaseCommand {
  static override summary = 'change a golden question; other fields stay unchanged'
  static override examples = [
    "<%= config.bin %> golden update '#a1b2c3d4' --expect '#9f31c2aa' --space example-space",
    "<%= config.bin %> golden update '#a1b2c3d4' --no-tags --space example-space",
  ]
  static override args = { id: Args.string({ required: true, description: 'id of the golden question' }) }
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
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(GoldenUpdate)
    const { question } = flags
    const expected = flags['no-expect'] ? [] : flags.expect
    const tags = flags['no-tags'] ? [] : flags.tag
    const expect = flags['no-expect-answer'] ? null : readExpectedAnswer(flags)
    if (question === undefined && expected === undefined && tags === undefined && expect === undefined) {
      throw usageError('nothing to change', 'give `--question`, `--expect`, `--expect-answer` or `--tag`')
    }
    const { id } = await this.space()
    const questionId = resolveId('golden question', args.id, this.dirs.cache)
    const expectedEvidenceIds = expected?.map((passageId) => resolveId('passage', passageId, this.dirs.cache))
    const client = await this.client()
    const updated = await client.request('PATCH /knowledge-spaces/{id}/golden-questions/{questionId}', {
      path: { id, questionId },
      body: omitUndefined({ question, expectedEvidenceIds, tags, expect }),
    })
    this.out.record(updated, { columns: GOLDEN_COLUMNS, fields: GOLDEN_FIELDS })
  }
}
