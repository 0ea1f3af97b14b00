import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { resolveId } from '../../cli/resolve.js'
import { BULK_COLUMNS } from '../../cli/resources.js'

export default class JobsBulk extends BaseCommand {
  static override summary = 'show the progress of a bulk job'
  static override examples = ["<%= config.bin %> jobs bulk '#a1b2c3d4'"]
  static override args = { id: Args.string({ required: true, description: 'id of the bulk job' }) }

  async run(): Promise<void> {
    const { args } = await this.parse(JobsBulk)
    const id = resolveId('bulk job', args.id, this.dirs.cache)
    const client = await this.client()
    this.out.record(await client.request('GET /bulk-jobs/{id}', { path: { id } }), {
      columns: BULK_COLUMNS,
      fields: ['knowledgeSpaceId'],
    })
  }
}
