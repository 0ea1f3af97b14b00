import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { readGoldenFile } from '../../cli/golden-file.js'
import { paginate } from '../../client/pages.js'

export default class GoldenImport extends BaseCommand {
  static override summary = 'add golden questions from a JSON Lines file; existing ones are skipped'
  static override examples = ['<%= config.bin %> golden import golden.jsonl --space example-space']
  static override args = {
    file: Args.string({ required: true, description: 'file with one golden question per line; - reads stdin' }),
  }
  static override flags = { ...spaceFlag }

  async run(): Promise<void> {
    const { args } = await this.parse(GoldenImport)
    const lines = await readGoldenFile(args.file)
    const { id } = await this.space()
    const client = await this.client()
    const existing = new Set<string>()
    const stored = paginate(
      (query) => client.request('GET /knowledge-spaces/{id}/golden-questions', { path: { id }, query }),
      { pageSize: 1000 },
    )
    for await (const { question } of stored) existing.add(question)
    let imported = 0
    for (const { line, ...body } of lines) {
      if (existing.has(body.question)) continue
      try {
        await client.request('POST /knowledge-spaces/{id}/golden-questions', { path: { id }, body })
      } catch (error) {
        this.out.warn(`ks: stopped at line ${line} of ${lines.at(-1)?.line ?? line}; ${imported} were imported`)
        throw error
      }
      existing.add(body.question)
      imported += 1
    }
    this.out.record({ imported, skipped: lines.length - imported })
  }
}
