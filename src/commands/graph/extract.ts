import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { LIMITS } from '../../contract/limits.js'

export default class GraphExtract extends BaseCommand {
  static override summary = 'read the next passages of a space for entities and relations'
  static override examples = ['<%= config.bin %> graph extract --limit 100 --space example-space']
  static override flags = {
    ...spaceFlag,
    limit: Flags.integer({ helpValue: 'n', description: `passages to read, at most ${LIMITS.viewItems.max}` }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(GraphExtract)
    const { id } = await this.space()
    const client = await this.client()
    const done = await client.request('POST /knowledge-spaces/{id}/semantic-views/entities/extract', {
      path: { id },
      body: { ...(flags.limit === undefined ? {} : { limit: flags.limit }) },
    })
    this.out.record(done, {
      fields: ['nodesScanned', 'nodesUpdated', 'entitiesExtracted', 'graphEntitiesIndexed', 'graphRelationsIndexed'],
    })
  }
}
