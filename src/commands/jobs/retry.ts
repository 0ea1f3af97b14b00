import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { usageError } from '../../cli/cli-error.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { JOB_COLUMNS } from '../../cli/resources.js'
import type { DocumentCompilationJob } from '../../contract/gateway/jobs.js'

export default class JobsRetry extends BaseCommand {
  static override summary = 'recompile documents of failed or canceled jobs; waiting jobs are retried at once'
  static override examples = [
    "<%= config.bin %> jobs retry '#a1b2c3d4'",
    '<%= config.bin %> jobs retry --failed --space example-space',
  ]
  static override strict = false
  static override args = { id: Args.string({ description: 'ids of jobs, or last' }) }
  static override flags = {
    ...spaceFlag,
    failed: Flags.boolean({ description: 'retry every failed document of the space' }),
  }

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(JobsRetry)
    if ((flags.failed === true) === argv.length > 0) throw usageError('give ids of jobs, or `--failed`')
    const jobs = flags.failed ? await this.retryFailed() : await this.retryJobs(argv)
    await this.out.list(jobs, { columns: JOB_COLUMNS, empty: 'No failed documents.' })
    if (jobs.length > 0 && this.out.format === 'table') this.out.note('hint: `ks jobs show ID --wait` follows one')
  }

  private async retryJobs(words: unknown[]): Promise<DocumentCompilationJob[]> {
    const ids: string[] = []
    for (const text of words) ids.push(await this.resolveIdOrLast('job', String(text)))
    const client = await this.client()
    const jobs: DocumentCompilationJob[] = []
    for (const id of ids) jobs.push(await client.request('POST /jobs/{id}/retry', { path: { id } }))
    return jobs
  }

  private async retryFailed(): Promise<DocumentCompilationJob[]> {
    const { id } = await this.space()
    const client = await this.client()
    return (await client.request('POST /knowledge-spaces/{id}/jobs/retry', { path: { id } })).jobs
  }
}
