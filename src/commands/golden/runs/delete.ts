import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../../cli/base-command.js'
import { spaceFlag } from '../../../cli/common-flags.js'
import { resolveId } from '../../../cli/resolve.js'

export default class GoldenRunsDelete extends BaseCommand {
  static override summary = 'delete a golden run with its results; one that is running stops'
  static override examples = ["<%= config.bin %> golden runs delete '#a1b2c3d4' --space example-space"]
  static override args = { id: Args.string({ required: true, description: 'id of the golden run' }) }
  static override flags = { ...spaceFlag }

  async run(): Promise<void> {
    const { args } = await this.parse(GoldenRunsDelete)
    const { id } = await this.space()
    const runId = resolveId('golden run', args.id, this.dirs.cache)
    const client = await this.client()
    await client.request('DELETE /knowledge-spaces/{id}/golden-runs/{runId}', { path: { id, runId } })
    if (this.out.isJson) this.out.json({ id: runId, deleted: true })
    else this.out.note('Deleted.')
  }
}
