import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { resolveId } from '../../cli/resolve.js'
import { formatTrace } from '../../cli/trace-view.js'

export default class TracesShow extends BaseCommand {
  static override isPaged = true
  static override summary = 'show the steps of a query'
  static override examples = ["<%= config.bin %> traces show '#9f31c2aa'"]
  static override args = { id: Args.string({ required: true, description: 'id of the trace' }) }

  async run(): Promise<void> {
    const { args } = await this.parse(TracesShow)
    const traceId = resolveId('trace', args.id, this.dirs.cache)
    const client = await this.client()
    const trace = await client.request('GET /queries/{traceId}', { path: { traceId } })
    if (this.out.format === 'table') {
      for (const line of formatTrace(trace)) this.out.line(line)
    } else if (this.out.format === 'tsv') {
      await this.out.list(trace.steps, {
        columns: [
          { field: 'name' },
          { field: 'status' },
          { field: 'startedAt' },
          { field: 'endedAt' },
          { field: 'metadata' },
        ],
        empty: 'The trace has no steps.',
      })
    } else {
      this.out.json(trace)
    }
  }
}
