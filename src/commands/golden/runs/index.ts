import { BaseCommand } from '../../../cli/base-command.js'
import { listFlags, spaceFlag } from '../../../cli/common-flags.js'
import { GOLDEN_RUN_COLUMNS, GOLDEN_RUN_FIELDS } from '../../../cli/quality.js'
import { paginate } from '../../../client/pages.js'

export default class GoldenRuns extends BaseCommand {
  static override isPaged = true
  static override summary = 'list your runs of golden questions in a space, newest first'
  static override aliases = ['golden:runs:list', 'golden:runs:ls']
  static override examples = ['<%= config.bin %> golden runs --space example-space']
  static override flags = { ...spaceFlag, ...listFlags }

  async run(): Promise<void> {
    const { flags } = await this.parse(GoldenRuns)
    const { id } = await this.space()
    const client = await this.client()
    const runs = paginate(
      (query) => client.request('GET /knowledge-spaces/{id}/golden-runs', { path: { id }, query }),
      { ...this.getListRange(flags), pageSize: 100 },
    )
    await this.list(runs, {
      columns: GOLDEN_RUN_COLUMNS,
      fields: GOLDEN_RUN_FIELDS,
      empty: 'No golden runs yet.',
      hint: '`ks golden run` runs the golden questions of the space',
    })
  }
}
