import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import type { Deletion } from '../../cli/json-output/machine.js'

export default class GoldenDelete extends BaseCommand {
  static override summary = 'delete a golden question, or a run with its results; a run that has not ended stops'
  static override examples = [
    "<%= config.bin %> golden delete '#a1b2c3d4' --space example-space",
    "<%= config.bin %> golden delete '#a1b2c3d4' --run --space example-space",
  ]
  static override args = {
    id: Args.string({ required: true, description: 'id of the golden question or run, or last' }),
  }
  static override flags = { ...spaceFlag, run: Flags.boolean({ description: 'ID is that of a run' }) }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(GoldenDelete)
    const { id } = await this.space()
    const target = await this.resolveIdOrLast(flags.run ? 'golden run' : 'golden question', args.id)
    const client = await this.client()
    if (flags.run)
      await client.request('DELETE /knowledge-spaces/{id}/golden-runs/{runId}', { path: { id, runId: target } })
    else
      await client.request('DELETE /knowledge-spaces/{id}/golden-questions/{questionId}', {
        path: { id, questionId: target },
      })
    if (this.out.isJson) this.out.json({ id: target, deleted: true } satisfies Deletion)
    else this.out.note('Deleted.')
  }
}
