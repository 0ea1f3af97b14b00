import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { listFlags, spaceFlag } from '../../cli/common-flags.js'
import { TASK_COLUMNS } from '../../cli/research/view.js'
import { paginate } from '../../client/pages.js'
import { RESEARCH_STAGES } from '../../contract/values.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

export default class Research extends BaseCommand {
  static override isPaged = true
  static override summary = 'list your research tasks, newest first'
  static override aliases = ['research:list', 'research:ls']
  static override examples = ['<%= config.bin %> research --space example-space --stage completed']
  static override flags = {
    ...spaceFlag,
    ...listFlags,
    stage: Flags.option({ options: RESEARCH_STAGES, description: 'stage of the tasks' })(),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Research)
    const client = await this.client()
    // Without a configured space, lists the tasks of all spaces.
    const space = this.settings.space === undefined ? undefined : await this.resolveSpace(this.settings.space.value)
    const filter = omitUndefined({ knowledgeSpaceId: space?.id, stage: flags.stage })
    const tasks = paginate((page) => client.request('GET /research-tasks', { query: { ...filter, ...page } }), {
      ...this.getListRange(flags),
      pageSize: 100,
    })
    await this.list(tasks, {
      columns: TASK_COLUMNS,
      empty: 'No research tasks yet.',
      hint: '`ks research start TEXT` starts one',
    })
  }
}
