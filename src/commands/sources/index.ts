import { BaseCommand } from '../../cli/base-command.js'
import { listFlags, spaceFlag } from '../../cli/common-flags.js'
import { SOURCE_COLUMNS } from '../../cli/sources.js'
import { paginate } from '../../client/pages.js'

export default class Sources extends BaseCommand {
  static override isPaged = true
  static override summary = 'list the sources of a space'
  static override aliases = ['sources:list', 'sources:ls']
  static override examples = ['<%= config.bin %> sources --space example-space']
  static override flags = { ...spaceFlag, ...listFlags }

  async run(): Promise<void> {
    const { flags } = await this.parse(Sources)
    const { id } = await this.space()
    const client = await this.client()
    const sources = paginate((query) => client.request('GET /knowledge-spaces/{id}/sources', { path: { id }, query }), {
      ...this.getListRange(flags),
      pageSize: 200,
    })
    await this.list(sources, {
      columns: SOURCE_COLUMNS,
      empty: 'No sources yet.',
      hint: '`ks sources add NAME --uri URL` adds one',
    })
  }
}
