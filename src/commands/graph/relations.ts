import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { listFlags, spaceFlag } from '../../cli/common-flags.js'
import { RELATION_COLUMNS, RELATION_FIELDS, resolveEntity } from '../../cli/graph.js'
import { paginate } from '../../client/pages.js'
import { RELATION_TYPES } from '../../contract/values.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

export default class GraphRelations extends BaseCommand {
  static override isPaged = true
  static override summary = 'list relations of the graph, of all entities or of one entity'
  static override examples = [
    '<%= config.bin %> graph relations --type depends_on --space example-space',
    '<%= config.bin %> graph relations "Project Falcon" --space example-space',
  ]
  static override args = { entity: Args.string({ description: 'id or name of an entity' }) }
  static override flags = {
    ...spaceFlag,
    ...listFlags,
    type: Flags.option({ options: RELATION_TYPES, description: 'only relations of this type' })(),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(GraphRelations)
    const { id } = await this.space()
    const client = await this.client()
    const entityId =
      args.entity === undefined ? undefined : await resolveEntity(client, id, args.entity, this.dirs.cache)
    const filter = omitUndefined({ type: flags.type, entityId })
    const items = paginate(
      async (page) => {
        const query = { ...filter, ...page }
        return this.reportDegradation(
          await client.request('GET /knowledge-spaces/{id}/graph/relations', { path: { id }, query }),
        )
      },
      { ...this.getListRange(flags), pageSize: 100 },
    )
    await this.list(items, { columns: RELATION_COLUMNS, fields: RELATION_FIELDS, empty: 'No relations were found.' })
  }
}
