import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { listFlags, spaceFlag, waitFlag } from '../../cli/common-flags.js'
import { followTask, formatTaskEvent, isFinalEvent, type TaskEvent } from '../../cli/research/follow.js'
import { ResearchCommand } from '../../cli/research/research-command.js'
import { TASK_RECORD } from '../../cli/research/view.js'
import { paginate } from '../../client/pages.js'

const DEFAULT_LIMIT = 25
/** maximum events of one request */
const MAX_PAGE_SIZE = 100

interface ListRangeFlags {
  limit?: number | undefined
  all: boolean
  cursor?: string | undefined
}

export default class ResearchShow extends ResearchCommand {
  static override isPaged = true
  static override summary = 'show a research task: its stage and cost, its report, its events or its evidence'
  static override description =
    'With `--wait`, shows the progress until the task has ended, then the report; with `--events`, only the events.'
  static override examples = [
    '<%= config.bin %> research show last --report > report.md',
    "<%= config.bin %> research show '#a1b2c3d4' --wait",
    "<%= config.bin %> research show '#a1b2c3d4'",
    "<%= config.bin %> research show '#a1b2c3d4' --events --limit 1 --format jsonl",
    "<%= config.bin %> research show '#a1b2c3d4' --evidence --format jsonl",
  ]
  static override args = { id: Args.string({ required: true, description: 'id of the task, or last' }) }
  static override flags = {
    ...spaceFlag,
    ...listFlags,
    report: Flags.boolean({ description: 'print the report of the completed task', exclusive: ['events', 'evidence'] }),
    events: Flags.boolean({ description: 'show the events; waits for new ones while the task runs' }),
    evidence: Flags.boolean({
      aliases: ['partials'],
      description: 'list the evidence so far, one bundle for each retrieval',
      exclusive: ['events', 'wait'],
    }),
    ...waitFlag('follow until the task has ended, also across a restart of the daemon'),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ResearchShow)
    const id = await this.resolveIdOrLast('research task', args.id)
    if (flags.events) return await this.showEvents(id, flags)
    if (flags.evidence) return await this.listEvidence(id, flags)
    if (flags.wait) await this.follow(id, { cursor: flags.cursor, onEvent: (event) => this.printProgress(event) })
    if (flags.wait || flags.report) return await this.printReport(id)
    const client = await this.client()
    const task = await client.request('GET /research-tasks/{id}', { path: { id } })
    this.out.record(task, { columns: TASK_RECORD })
  }

  private async showEvents(id: string, flags: ListRangeFlags & { wait: boolean }): Promise<void> {
    const events: object[] = []
    const onEvent = (event: TaskEvent) => {
      if (this.out.format === 'json') events.push({ event: event.event, data: event.data, cursor: event.id })
      else if (this.out.format === 'jsonl') this.out.event(event.event, event.data)
      else this.out.line(formatTaskEvent(event))
    }
    if (flags.wait) await this.follow(id, { cursor: flags.cursor, onEvent })
    else {
      const defaultLimit = this.out.isTerminal && !flags.all ? DEFAULT_LIMIT : undefined
      const limit = flags.limit === undefined ? defaultLimit : Math.min(flags.limit, MAX_PAGE_SIZE)
      await this.printEvents(id, { limit, cursor: flags.cursor }, onEvent)
    }
    if (this.out.format === 'json') this.out.json(events)
  }

  private async printEvents(
    id: string,
    { limit, cursor }: { limit: number | undefined; cursor: string | undefined },
    onEvent: (event: TaskEvent) => void,
  ): Promise<void> {
    const page = { pageSize: limit ?? MAX_PAGE_SIZE, allPages: limit === undefined, untilEnd: false, cursor }
    const connectionOptions = { signal: this.deadline.signal, reconnect: () => this.reconnect() }
    let lastEvent: TaskEvent | undefined
    let count = 0
    for await (const event of followTask(await this.client(), id, { ...page, ...connectionOptions })) {
      onEvent(event)
      lastEvent = event
      count += 1
    }
    if (count === limit && lastEvent?.id !== undefined && !isFinalEvent(lastEvent))
      this.out.note(`There may be more: \`--cursor ${lastEvent.id}\`, or a greater \`--limit\`.`)
  }

  private async listEvidence(id: string, flags: ListRangeFlags): Promise<void> {
    const client = await this.client()
    const partials = paginate((query) => client.request('GET /research-tasks/{id}/partials', { path: { id }, query }), {
      ...this.getListRange(flags),
      pageSize: 100,
    })
    await this.list(partials, {
      columns: [
        { field: 'sequence', title: 'NO' },
        { field: 'evidenceBundle.state', title: 'STATE', kind: 'state' },
        { field: 'evidenceBundle.items.length', title: 'PASSAGES', kind: 'count' },
        { field: 'evidenceBundle.query', title: 'QUERY' },
      ],
      empty: 'No evidence yet.',
    })
  }
}
