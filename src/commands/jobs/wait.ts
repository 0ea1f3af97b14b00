import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { ExitWith } from '../../cli/cli-error.js'
import { hasFailed, type loadJob, watchJobs } from '../../cli/jobs.js'
import { resolveId } from '../../cli/resolve.js'
import { EXIT } from '../../contract/errors.js'

export default class JobsWait extends BaseCommand {
  static override summary = 'wait until jobs have ended; exits with 1 if all failed, with 3 if some failed'
  static override examples = ["<%= config.bin %> jobs wait '#a1b2c3d4' --timeout 5m"]
  static override strict = false
  static override args = { id: Args.string({ required: true, description: 'ids of jobs or bulk jobs' }) }

  async run(): Promise<void> {
    const { argv } = await this.parse(JobsWait)
    const ids = argv.map((text) => resolveId('job', String(text), this.dirs.cache))
    const client = await this.client()
    const last = new Map<string, Awaited<ReturnType<typeof loadJob>>>()
    for await (const job of watchJobs(client, ids, this.deadline.signal)) last.set(job.id, job)
    const jobs = [...last.values()]
    await this.out.list(jobs, {
      columns: [{ field: 'id', kind: 'id' }, { field: 'kind' }, { field: 'state', kind: 'state' }, { field: 'error' }],
      fields: ['total', 'completed', 'failed'],
      empty: '',
    })
    const failed = jobs.filter(hasFailed).length
    if (failed > 0) throw new ExitWith(failed === jobs.length ? EXIT.failed : EXIT.partial)
  }
}
