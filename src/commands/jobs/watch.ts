import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { formatJob, watchJobs } from '../../cli/jobs.js'
import { resolveId } from '../../cli/resolve.js'

export default class JobsWatch extends BaseCommand {
  static override summary = 'follow jobs until they end; prints a line for each change'
  static override examples = [
    "<%= config.bin %> jobs watch '#a1b2c3d4'",
    "<%= config.bin %> jobs watch '#a1b2c3d4' --format jsonl",
  ]
  static override strict = false
  static override args = { id: Args.string({ required: true, description: 'ids of jobs or bulk jobs' }) }

  async run(): Promise<void> {
    const { argv } = await this.parse(JobsWatch)
    const ids = argv.map((text) => resolveId('job', String(text), this.dirs.cache))
    const client = await this.client()
    for await (const job of watchJobs(client, ids, this.deadline.signal)) {
      if (this.out.isJson) this.out.event('job.changed', job)
      else this.out.line(formatJob(job, this.out.shortenId(job.id)))
    }
  }
}
