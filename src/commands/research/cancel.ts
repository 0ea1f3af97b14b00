import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { TASK_RECORD } from '../../cli/research/view.js'

export default class ResearchCancel extends BaseCommand {
  static override summary = 'cancel a research task that has not ended; its results so far are kept'
  static override examples = ["<%= config.bin %> research cancel '#a1b2c3d4'"]
  static override args = { id: Args.string({ required: true, description: 'id of the task, or last' }) }
  static override flags = { ...spaceFlag }

  async run(): Promise<void> {
    const { args } = await this.parse(ResearchCancel)
    const id = await this.resolveIdOrLast('research task', args.id)
    const client = await this.client()
    const task = await client.request('DELETE /research-tasks/{id}', { path: { id } })
    this.out.record(task, { columns: TASK_RECORD })
  }
}
