import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { readArgumentText } from '../../cli/argument-words.js'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { expectFlags, readExpectedAnswer } from '../../cli/golden/expect-flags.js'
import { GOLDEN_COLUMNS, GOLDEN_FIELDS } from '../../cli/quality.js'
import { resolveId } from '../../cli/resolve.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

const REPEATABLE = { multiple: true, multipleNonGreedy: true } as const

export default class GoldenAdd extends BaseCommand {
  static override summary = 'add a question with its expected passages and answer'
  static override examples = [
    '<%= config.bin %> golden add "How long are traces kept?" --expect \'#9f31c2aa\' --tag retention --space example-space',
    '<%= config.bin %> golden add "How long is the notice?" --expect-answer "four weeks" --expect-not "two weeks" --space example-space',
  ]
  static override strict = false
  static override args = { question: Args.string({ required: true, description: 'question text; - reads stdin' }) }
  static override flags = {
    ...spaceFlag,
    expect: Flags.string({
      ...REPEATABLE,
      helpValue: 'id',
      description: 'id of a passage that answers it; repeatable',
    }),
    ...expectFlags,
    tag: Flags.string({ ...REPEATABLE, helpValue: 'tag', description: 'tag; repeatable' }),
  }

  async run(): Promise<void> {
    const { raw, flags } = await this.parse(GoldenAdd)
    const { id } = await this.space()
    const question = await readArgumentText(raw, 'the question')
    const client = await this.client()
    const added = await client.request('POST /knowledge-spaces/{id}/golden-questions', {
      path: { id },
      body: {
        question,
        expectedEvidenceIds: (flags.expect ?? []).map((passageId) => resolveId('passage', passageId, this.dirs.cache)),
        tags: flags.tag ?? [],
        ...omitUndefined({ expect: readExpectedAnswer(flags) }),
      },
    })
    this.out.record(added, { columns: GOLDEN_COLUMNS, fields: GOLDEN_FIELDS })
  }
}
