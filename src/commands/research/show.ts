import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { TASK_FIELDS, TASK_RECORD } from '../../cli/research/view.js'
import { resolveId } from '../../cli/resolve.js'

export default class ResearchShow extends BaseCommand {
  static override isPaged = true
  static override summary = 'show a research task with its stage and cost'
  static override examples = ["<%= config.bin %> research show '#a1b2c3d4'"]
  static override args = { id: Args.string({ required: true, description: 'id of the task' }) }

  async run(): Promise<void> {
    const { args } = await this.parse(ResearchShow)
    const id = resolveId('research task', args.id, this.dirs.cache)
    const client = await this.client()
    const task = await client.request('GET /research-tasks/{id}', { path: { id } })
    this.out.record(task, { columns: TASK_RECORD, fields: TASK_FIELDS })
  }
}
