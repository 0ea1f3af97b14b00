import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { resolveId } from '../../cli/resolve.js'

export default class GoldenDelete extends BaseCommand {
  static override summary = 'delete a golden question'
  static override examples = ["<%= config.bin %> golden delete '#a1b2c3d4' --space example-space"]
  static override args = { id: Args.string({ required: true, description: 'id of the golden question' }) }
  static override flags = { ...spaceFlag }

  async run(): Promise<void> {
    const { args } = await this.parse(GoldenDelete)
    const { id } = await this.space()
    const questionId = resolveId('golden question', args.id, this.dirs.cache)
    const client = await this.client()
    await client.request('DELETE /knowledge-spaces/{id}/golden-questions/{questionId}', { path: { id, questionId } })
    if (this.out.isJson) this.out.json({ id: questionId, deleted: true })
    else this.out.note('Deleted.')
  }
}
