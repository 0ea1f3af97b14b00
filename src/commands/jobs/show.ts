import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { ExitWith, usageError } from '../../cli/cli-error.js'
import { spaceFlag, waitFlag } from '../../cli/common-flags.js'
import { formatJob, hasFailed, loadBulkJob, watchJobs } from '../../cli/jobs.js'
import type { WatchedJob } from '../../cli/json-output/quality.js'
import { findReadingProgress } from '../../cli/reading.js'
import { BULK_COLUMNS, JOB_COLUMNS } from '../../cli/resources.js'
import { EXIT } from '../../contract/errors.js'

export default class JobsShow extends BaseCommand {
  static override summary = 'show how documents are being read, or wait until that has ended'
  static override description =
    'With `--wait`, stderr shows each change, and the exit code is 1 if all jobs failed, 3 if some did. `--format jsonl` prints the changes as events.'
  static override examples = [
    "<%= config.bin %> jobs show '#a1b2c3d4'",
    "<%= config.bin %> jobs show '#a1b2c3d4' --wait --timeout 5m",
    "<%= config.bin %> jobs show '#a1b2c3d4' --wait --format jsonl",
  ]
  static override strict = false
  static override args = {
    id: Args.string({ required: true, description: 'id of a job or bulk job, or last; several with --wait' }),
  }
  static override flags = { ...spaceFlag, ...waitFlag('wait until the jobs have ended') }

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(JobsShow)
    const ids: string[] = []
    for (const text of argv) ids.push(await this.resolveIdOrLast('job', String(text)))
    const [id = '', other] = ids
    if (flags.wait) await this.waitFor(ids)
    else if (other !== undefined) throw usageError('`ks jobs show` shows one job', '`--wait` waits for several')
    else await this.showJob(id)
  }

  private async showJob(id: string): Promise<void> {
    const client = await this.client()
    const bulk = await loadBulkJob(client, id)
    if (bulk !== undefined) return this.out.record(bulk, { columns: BULK_COLUMNS })
    const job = await client.request('GET /jobs/{id}', { path: { id } })
    const reading = job.stage === 'queued' ? await findReadingProgress(client, job) : undefined
    this.out.record(job, { columns: JOB_COLUMNS })
    if (reading !== undefined) this.out.note(`The file is being parsed: ${reading}.`)
  }

  private async waitFor(ids: string[]): Promise<void> {
    const client = await this.client()
    const last = new Map<string, WatchedJob>()
    for await (const job of watchJobs(client, ids, this.deadline.signal)) {
      last.set(job.id, job)
      if (this.out.format === 'jsonl') this.out.event('job.changed', job)
      else this.out.note(formatJob(job, this.out.shortenId(job.id)))
    }
    const jobs = [...last.values()]
    if (this.out.format !== 'jsonl')
      await this.out.list(jobs, {
        columns: [
          { field: 'id', kind: 'id' },
          { field: 'kind' },
          { field: 'state', kind: 'state' },
          { field: 'error' },
        ],
        empty: '',
      })
    const failed = jobs.filter(hasFailed).length
    if (failed > 0) throw new ExitWith(failed === jobs.length ? EXIT.failed : EXIT.partial)
  }
}
