import { BaseCommand } from '../../cli/base-command.js'
import { listFlags } from '../../cli/common-flags.js'
import { SPACE_COLUMNS } from '../../cli/resources.js'
import { paginate } from '../../client/pages.js'

export default class Spaces extends BaseCommand {
  static override isPaged = true
  static override summary = 'list the knowledge spaces'
  static override aliases = ['spaces:list', 'spaces:ls']
  static override examples = [
    '<%= config.bin %> spaces',
    '<%= config.bin %> spaces --all --format jsonl --fields slug,id',
  ]
  static override flags = { ...listFlags }

  async run(): Promise<void> {
    const { flags } = await this.parse(Spaces)
    const client = await this.client()
    const spaces = paginate((query) => client.request('GET /knowledge-spaces', { query }), {
      ...this.getListRange(flags),
      pageSize: 1000,
    })
    await this.list(spaces, {
      columns: SPACE_COLUMNS,
      empty: 'No spaces yet.',
      hint: '`ks spaces create NAME`, or `ks quickstart`',
    })
  }
}
