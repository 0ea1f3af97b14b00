import { BaseCommand } from '../../cli/base-command.js'
import { listFlags, spaceFlag } from '../../cli/common-flags.js'
import { DOCUMENT_COLUMNS, DOCUMENT_FIELDS } from '../../cli/resources.js'
import { paginate } from '../../client/pages.js'

export default class Docs extends BaseCommand {
  static override isPaged = true
  static override summary = 'list the documents of a space'
  static override aliases = ['docs:list', 'docs:ls']
  static override examples = [
    '<%= config.bin %> docs --space example-space',
    '<%= config.bin %> docs --space example-space --all --format tsv --fields id,filename',
  ]
  static override flags = { ...spaceFlag, ...listFlags }

  async run(): Promise<void> {
    const { flags } = await this.parse(Docs)
    const { id } = await this.space()
    const client = await this.client()
    const documents = paginate(
      (query) => client.request('GET /knowledge-spaces/{id}/documents', { path: { id }, query }),
      { ...this.getListRange(flags), pageSize: 100 },
    )
    await this.list(documents, {
      columns: DOCUMENT_COLUMNS,
      fields: DOCUMENT_FIELDS,
      empty: 'No documents yet.',
      hint: '`ks ingest PATH` adds some',
    })
  }
}
