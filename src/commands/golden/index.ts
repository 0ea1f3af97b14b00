import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { usageError } from '../../cli/cli-error.js'
import { listFlags, spaceFlag } from '../../cli/common-flags.js'
import { toJson } from '../../cli/output.js'
import { GOLDEN_COLUMNS, GOLDEN_RUN_COLUMNS } from '../../cli/quality.js'
import { paginate } from '../../client/pages.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

export default class Golden extends BaseCommand {
  static override isPaged = true
  static override summary = 'list the golden questions of a space or their runs, or show one question'
  static override aliases = ['golden:list', 'golden:ls']
  static override examples = [
    '<%= config.bin %> golden --space example-space',
    "<%= config.bin %> golden '#a1b2c3d4' --space example-space",
    '<%= config.bin %> golden --runs --space example-space',
    '<%= config.bin %> golden --export --space example-space > golden.jsonl',
  ]
  static override args = { id: Args.string({ description: 'id of a golden question, or last' }) }
  static override flags = {
    ...spaceFlag,
    ...listFlags,
    runs: Flags.boolean({ description: 'list your runs of golden questions, newest first', exclusive: ['export'] }),
    export: Flags.boolean({ description: 'print all questions as JSON lines, for `golden add --file`' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Golden)
    if (args.id !== undefined) {
      if (flags.runs || flags.export) throw usageError('`--runs` and `--export` list: give no ID')
      return await this.showQuestion(args.id)
    }
    if (flags.runs) return await this.listRuns(flags)
    const { id } = await this.space()
    if (flags.export) return await this.exportQuestions(id)
    const client = await this.client()
    const questions = paginate(
      (query) => client.request('GET /knowledge-spaces/{id}/golden-questions', { path: { id }, query }),
      { ...this.getListRange(flags), pageSize: 1000 },
    )
    await this.list(questions, {
      columns: GOLDEN_COLUMNS,
      empty: 'No golden questions yet.',
      hint: '`ks golden add QUESTION` adds one',
    })
  }

  private async showQuestion(text: string): Promise<void> {
    const { id } = await this.space()
    const questionId = await this.resolveIdOrLast('golden question', text)
    const client = await this.client()
    const question = await client.request('GET /knowledge-spaces/{id}/golden-questions/{questionId}', {
      path: { id, questionId },
    })
    this.out.record(question)
  }

  private async listRuns(flags: {
    limit?: number | undefined
    all: boolean
    cursor?: string | undefined
  }): Promise<void> {
    const { id } = await this.space()
    const client = await this.client()
    const runs = paginate(
      (query) => client.request('GET /knowledge-spaces/{id}/golden-runs', { path: { id }, query }),
      { ...this.getListRange(flags), pageSize: 100 },
    )
    await this.list(runs, {
      columns: GOLDEN_RUN_COLUMNS,
      empty: 'No golden runs yet.',
      hint: '`ks golden run` runs the golden questions of the space',
    })
  }

  private async exportQuestions(id: string): Promise<void> {
    const client = await this.client()
    const questions = paginate(
      (query) => client.request('GET /knowledge-spaces/{id}/golden-questions', { path: { id }, query }),
      { pageSize: 1000 },
    )
    const allQuestions: object[] = []
    for await (const { question, expectedEvidenceIds, expect, tags, metadata } of questions) {
      const exported = { question, expectedEvidenceIds, ...omitUndefined({ expect }), tags, metadata }
      if (this.out.format === 'json') allQuestions.push(exported)
      else this.out.raw(`${toJson(exported)}\n`)
    }
    if (this.out.format === 'json') this.out.json(allQuestions)
  }
}
