import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { toJson } from '../../cli/output.js'
import { paginate } from '../../client/pages.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

export default class GoldenExport extends BaseCommand {
  static override summary = 'print all golden questions as JSON lines, for `golden import`'
  static override examples = ['<%= config.bin %> golden export --space example-space > golden.jsonl']
  static override flags = { ...spaceFlag }

  async run(): Promise<void> {
    await this.parse(GoldenExport)
    const { id } = await this.space()
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
