import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { JOB_COLUMNS } from '../../cli/resources.js'

export default class JobsCancel extends BaseCommand {
  static override summary = 'cancel the reading of a document'
  static override examples = ["<%= config.bin %> jobs cancel '#a1b2c3d4'"]
  static override args = { id: Args.string({ required: true, description: 'id of the job, or last' }) }
  static override flags = { ...spaceFlag }

  async run(): Promise<void> {
    const { args } = await this.parse(JobsCancel)
    const id = await this.resolveIdOrLast('job', args.id)
    const client = await this.client()
    this.out.record(await client.request('DELETE /jobs/{id}', { path: { id } }), { columns: JOB_COLUMNS })
  }
}
