import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { findReadingProgress } from '../../cli/reading.js'
import { resolveId } from '../../cli/resolve.js'
import { JOB_COLUMNS } from '../../cli/resources.js'

export default class JobsShow extends BaseCommand {
  static override summary = 'show how one document is being read'
  static override examples = ["<%= config.bin %> jobs show '#a1b2c3d4'"]
  static override args = { id: Args.string({ required: true, description: 'id of the job' }) }

  async run(): Promise<void> {
    const { args } = await this.parse(JobsShow)
    const id = resolveId('job', args.id, this.dirs.cache)
    const client = await this.client()
    const job = await client.request('GET /jobs/{id}', { path: { id } })
    const reading = job.stage === 'queued' ? await findReadingProgress(client, job) : undefined
    this.out.record(job, { columns: JOB_COLUMNS, fields: ['knowledgeSpaceId', 'tenantId', 'queueJobId'] })
    if (reading !== undefined) this.out.note(`The file is being parsed: ${reading}.`)
  }
}
