import { EXIT } from '../../contract/errors.js'
import { formatCount, pluralize } from '../../lib/text/pluralize.js'
import { BaseCommand } from '../base-command.js'
import { CliError } from '../cli-error.js'
import { InterruptedError, listenForInterrupt } from '../interrupt.js'
import { followTask, formatTaskEvent, isFinalEvent, type TaskEvent } from './follow.js'

const EVENTS_PAGE_SIZE = 100

/** Base of the commands that follow a task. */
export abstract class ResearchCommand extends BaseCommand {
  /**
   * Follows a task to its end. After Ctrl-C the task continues.
   *
   * @throws CliError exit 1 if it failed or was canceled, exit 130 after Ctrl-C
   */
  protected async follow(
    id: string,
    options: { cursor?: string | undefined; onEvent: (event: TaskEvent) => void },
  ): Promise<void> {
    const interrupt = listenForInterrupt(this.deadline.signal)
    let last: TaskEvent | undefined
    try {
      const events = followTask(await this.client(), id, {
        pageSize: EVENTS_PAGE_SIZE,
        untilEnd: true,
        cursor: options.cursor,
        signal: interrupt.signal,
        reconnect: () => this.reconnect(),
      })
      for await (const event of events) {
        options.onEvent(event)
        last = event
      }
    } catch (error) {
      if (interrupt.wasInterrupted())
        throw new InterruptedError(
          `the task ${this.out.shortenId(id)} continues in the background`,
          `\`ks research show ${id} --wait\` follows it again, \`ks research cancel ${id}\` ends it`,
        )
      throw error
    } finally {
      interrupt.stopListening()
    }
    if (last?.event === 'research.failed' || last?.event === 'research.canceled')
      throw new CliError(`the task ${this.out.shortenId(id)} ${formatTaskEvent(last)}`, {
        code: last.event.replace('.', '-'),
        exit: EXIT.failed,
        hint: `\`ks research show ${id} --evidence\` shows what it found`,
      })
  }

  /** Prints a progress line on stderr, or the event as JSON on stdout with the format jsonl. */
  protected printProgress(event: TaskEvent): void {
    if (this.out.format === 'jsonl') this.out.event(event.event, event.data)
    else if (!isFinalEvent(event)) this.out.note(formatTaskEvent(event))
  }

  protected async printReport(id: string): Promise<void> {
    const client = await this.client()
    const report = await client.request('GET /research-tasks/{id}/report', { path: { id } })
    if (this.out.isJson) return this.out.json(report)
    this.out.prose(report.text)
    this.out.endProse()
    const { sections, sources, open } = report
    const answered = `${formatCount(sections.length - open.length)} of ${pluralize(sections.length, 'question')} answered`
    const facts = [report.resolvedMode, report.state, answered, pluralize(sources.length, 'source')]
    this.out.note(`\n${[...facts, `task ${this.out.shortenId(id)}`].join(', ')}`)
  }
}
