import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { listFlags, spaceFlag } from '../../cli/common-flags.js'
import { ENTITY_COLUMNS, ENTITY_FIELDS } from '../../cli/graph.js'
import { paginate } from '../../client/pages.js'
import { ENTITY_TYPES } from '../../contract/values.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

export default class GraphEntities extends BaseCommand {
  static override isPaged = true
  static override summary = 'list entities of the graph'
  static override examples = ['<%= config.bin %> graph entities --type person --match keller --space example-space']
  static override flags = {
    ...spaceFlag,
    ...listFlags,
    type: Flags.option({ options: ENTITY_TYPES, description: 'only entities of this type' })(),
    match: Flags.string({ helpValue: 'text', description: 'only entities whose name contains this text' }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(GraphEntities)
    const { id } = await this.space()
    const client = await this.client()
    const filter = omitUndefined({ type: flags.type, query: flags.match })
    const items = paginate(
      async (page) => {
        const query = { ...filter, ...page }
        return this.reportDegradation(
          await client.request('GET /knowledge-spaces/{id}/graph/entities', { path: { id }, query }),
        )
      },
      { ...this.getListRange(flags), pageSize: 100 },
    )
    await this.list(items, { columns: ENTITY_COLUMNS, fields: ENTITY_FIELDS, empty: 'No entities were found.' })
  }
}
