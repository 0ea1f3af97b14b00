import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { paginate } from '../../client/pages.js'

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
    for await (const { question, expectedEvidenceIds, tags, metadata } of questions)
      this.out.text(`${JSON.stringify({ question, expectedEvidenceIds, tags, metadata })}\n`)
  }
}
