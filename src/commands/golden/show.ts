import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { GOLDEN_FIELDS } from '../../cli/quality.js'
import { resolveId } from '../../cli/resolve.js'

export default class GoldenShow extends BaseCommand {
  static override summary = 'show one golden question'
  static override examples = ["<%= config.bin %> golden show '#a1b2c3d4' --space example-space"]
  static override args = { id: Args.string({ required: true, description: 'id of the golden question' }) }
  static override flags = { ...spaceFlag }

  async run(): Promise<void> {
    const { args } = await this.parse(GoldenShow)
    const { id } = await this.space()
    const questionId = resolveId('golden question', args.id, this.dirs.cache)
    const client = await this.client()
    const question = await client.request('GET /knowledge-spaces/{id}/golden-questions/{questionId}', {
      path: { id, questionId },
    })
    this.out.record(question, { fields: GOLDEN_FIELDS })
  }
}
