import { BaseCommand } from '../../cli/base-command.js'
import { listFlags, spaceFlag } from '../../cli/common-flags.js'
import { GOLDEN_COLUMNS, GOLDEN_FIELDS } from '../../cli/quality.js'
import { paginate } from '../../client/pages.js'

export default class Golden extends BaseCommand {
  static override isPaged = true
  static override summary = 'list the golden questions of a space'
  static override aliases = ['golden:list', 'golden:ls']
  static override examples = ['<%= config.bin %> golden --space example-space']
  static override flags = { ...spaceFlag, ...listFlags }

  async run(): Promise<void> {
    const { flags } = await this.parse(Golden)
    const { id } = await this.space()
    const client = await this.client()
    const questions = paginate(
      (query) => client.request('GET /knowledge-spaces/{id}/golden-questions', { path: { id }, query }),
      { ...this.getListRange(flags), pageSize: 1000 },
    )
    await this.list(questions, {
      columns: GOLDEN_COLUMNS,
      fields: GOLDEN_FIELDS,
      empty: 'No golden questions yet.',
      hint: '`ks golden add QUESTION` adds one',
    })
  }
}
