import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { followTask, formatTaskEvent, isFinalEvent, type TaskEvent } from '../../cli/research/follow.js'
import { ResearchCommand } from '../../cli/research/research-command.js'
import { resolveId } from '../../cli/resolve.js'

const DEFAULT_LIMIT = 25
/** maximum events of one request */
const MAX_PAGE_SIZE = 100

export default class ResearchEvents extends ResearchCommand {
  static override summary = 'show the events of a research task; waits for new ones while it runs'
  static override examples = [
    "<%= config.bin %> research events '#a1b2c3d4' --follow",
    "<%= config.bin %> research events '#a1b2c3d4' --limit 1 --format jsonl",
  ]
  static override args = { id: Args.string({ required: true, description: 'id of the task' }) }
  static override flags = {
    follow: Flags.boolean({ description: 'follow until the task has ended, also across a restart of the daemon' }),
    limit: Flags.integer({
      min: 1,
      max: MAX_PAGE_SIZE,
      helpValue: 'n',
      exclusive: ['follow'],
      description: `maximum events (default ${DEFAULT_LIMIT} at a terminal, else all)`,
    }),
    cursor: Flags.string({ helpValue: 'cursor', description: 'start after this event' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ResearchEvents)
    const id = resolveId('research task', args.id, this.dirs.cache)
    const events: object[] = []
    const onEvent = (event: TaskEvent) => {
      if (this.out.format === 'json') events.push({ event: event.event, data: event.data, cursor: event.id })
      else if (this.out.format === 'jsonl') this.out.event(event.event, event.data)
      else this.out.line(formatTaskEvent(event))
    }
    if (flags.follow) await this.follow(id, { cursor: flags.cursor, onEvent })
    else {
      const limit = flags.limit ?? (this.out.isTerminal ? DEFAULT_LIMIT : undefined)
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
}
