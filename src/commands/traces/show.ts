import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { listFlags, spaceFlag } from '../../cli/common-flags.js'
import { MISSING_COLUMNS } from '../../cli/quality.js'
import { EVIDENCE_COLUMNS } from '../../cli/resources.js'
import { formatTrace } from '../../cli/trace-view.js'
import { paginate } from '../../client/pages.js'

/** Lists of a trace by flag. */
const LISTS = {
  evidence: {
    route: 'GET /queries/{traceId}/evidence',
    columns: EVIDENCE_COLUMNS,
    empty: 'The query used no evidence.',
  },
  conflicts: {
    route: 'GET /queries/{traceId}/conflicts',
    columns: EVIDENCE_COLUMNS,
    empty: 'No evidence contradicts other evidence.',
  },
  missing: {
    route: 'GET /queries/{traceId}/missing',
    columns: MISSING_COLUMNS,
    empty: 'The query has no known missing evidence.',
  },
} as const

export default class TracesShow extends BaseCommand {
  static override isPaged = true
  static override summary = 'show the steps of a query, its evidence, or what it lacked'
  static override examples = [
    '<%= config.bin %> traces show last --space example-space',
    "<%= config.bin %> traces show '#9f31c2aa' --evidence",
    "<%= config.bin %> traces show '#9f31c2aa' --conflicts",
    "<%= config.bin %> traces show '#9f31c2aa' --missing",
  ]
  static override args = { id: Args.string({ required: true, description: 'id of the trace, or last' }) }
  static override flags = {
    ...spaceFlag,
    evidence: Flags.boolean({ description: 'list the evidence', exclusive: ['conflicts', 'missing'] }),
    conflicts: Flags.boolean({ description: 'list evidence that contradicts other evidence', exclusive: ['missing'] }),
    missing: Flags.boolean({ description: 'list the missing evidence' }),
    ...listFlags,
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(TracesShow)
    const traceId = await this.resolveIdOrLast('trace', args.id)
    const client = await this.client()
    const list = flags.evidence
      ? LISTS.evidence
      : flags.conflicts
        ? LISTS.conflicts
        : flags.missing
          ? LISTS.missing
          : undefined
    if (list !== undefined) {
      const items = paginate((query) => client.request(list.route, { path: { traceId }, query }), {
        ...this.getListRange(flags),
        pageSize: 100,
      })
      await this.list(items, { columns: list.columns, empty: list.empty })
      return
    }
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
