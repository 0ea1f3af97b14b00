import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { listFlags, spaceFlag } from '../../cli/common-flags.js'
import { TRACE_COLUMNS } from '../../cli/quality.js'
import { parseTime } from '../../cli/times.js'
import { paginate } from '../../client/pages.js'
import { QUERY_MODES } from '../../contract/values.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

export default class Traces extends BaseCommand {
  static override isPaged = true
  static override summary = 'list your queries in a space, newest first'
  static override aliases = ['traces:list', 'traces:ls']
  static override examples = [
    '<%= config.bin %> traces --space example-space --from 7d --status failed',
    '<%= config.bin %> traces --space example-space --query retention --mode fast',
  ]
  static override flags = {
    ...spaceFlag,
    ...listFlags,
    from: Flags.string({ helpValue: 'time', description: 'start of the period: a date, or a span such as 7d' }),
    to: Flags.string({ helpValue: 'time', description: 'end of the period, exclusive' }),
    mode: Flags.option({ char: 'm', options: QUERY_MODES, description: 'mode of the queries' })(),
    status: Flags.option({ options: ['completed', 'failed'] as const, description: 'status of the queries' })(),
    query: Flags.string({ helpValue: 'text', description: 'text that the queries contain' }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Traces)
    const { id } = await this.space()
    const client = await this.client()
    const filter = {
      ...(flags.from === undefined ? {} : { from: parseTime(flags.from, '--from') }),
      ...(flags.to === undefined ? {} : { to: parseTime(flags.to, '--to') }),
      ...omitUndefined({ mode: flags.mode, status: flags.status, query: flags.query }),
    }
    const traces = paginate(
      (page) =>
        client.request('GET /knowledge-spaces/{id}/quality/traces', { path: { id }, query: { ...filter, ...page } }),
      { ...this.getListRange(flags), pageSize: 100 },
    )
    await this.list(traces, {
      columns: TRACE_COLUMNS,
      empty: 'You have no queries here.',
    })
  }
}
