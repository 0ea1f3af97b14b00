import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { listFlags, spaceFlag } from '../../cli/common-flags.js'
import { formatGraphReading, getRunningGraphReading } from '../../cli/graph-reading.js'
import { paginate } from '../../client/pages.js'
import { LIMITS } from '../../contract/limits.js'
import { JOB_STATES } from '../../contract/values.js'

export default class Jobs extends BaseCommand {
  static override isPaged = true
  static override summary = 'list the reading of documents of a space, newest first'
  static override aliases = ['jobs:list', 'jobs:ls']
  static override examples = ['<%= config.bin %> jobs example-space', '<%= config.bin %> jobs --state failed']
  static override args = { space: Args.string({ description: 'slug or id' }) }
  static override flags = {
    ...spaceFlag,
    ...listFlags,
    state: Flags.string({
      options: JOB_STATES,
      description: 'only open jobs, jobs of failed documents, or jobs whose file is being parsed',
    }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Jobs)
    const { id } = await this.spaceOf(args.space)
    const client = await this.client()
    const state = JOB_STATES.find((candidate) => candidate === flags.state)
    const jobs = paginate(
      (query) =>
        client.request('GET /knowledge-spaces/{id}/jobs', {
          path: { id },
          query: state === undefined ? query : { ...query, state },
        }),
      { ...this.getListRange(flags), pageSize: LIMITS.page.cap },
    )
    let hasFailedJob = false
    await this.list(
      observeItems(jobs, ({ stage }) => (hasFailedJob ||= stage === 'failed' || stage === 'canceled')),
      {
        columns: [
          { field: 'id', kind: 'id' },
          { field: 'stage', kind: 'state' },
          { field: 'filename', title: 'FILE', kind: 'name' },
          { field: 'documentAssetId', title: 'DOCUMENT', kind: 'id' },
          ...(state === 'reading' || state === 'open' ? [{ field: 'progress', kind: 'progress' } as const] : []),
          { field: 'error' },
          { field: 'updatedAt', title: 'CHANGED', kind: 'epoch' },
        ],
        empty: 'No jobs.',
      },
    )
    if (this.out.format !== 'table') return
    if (hasFailedJob) this.out.note('hint: `ks jobs retry ID` retries one job, `--failed` all failed ones')
    const reading = await getRunningGraphReading(client, id)
    if (reading !== undefined) this.out.note(`${formatGraphReading(reading)} (\`ks graph extract --status\`)`)
  }
}

/** Passes items on, and calls `visit` with each. */
async function* observeItems<T>(items: AsyncGenerator<T, string | undefined>, visit: (item: T) => unknown) {
  for (;;) {
    const next = await items.next()
    if (next.done === true) return next.value
    visit(next.value)
    yield next.value
  }
}
