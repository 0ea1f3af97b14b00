import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { SOURCE_COLUMNS, SOURCE_FIELDS } from '../../cli/sources.js'

export default class SourcesShow extends BaseCommand {
  static override summary = 'show a source and the result of its last synchronization'
  static override examples = ["<%= config.bin %> sources show '#a1b2c3d4' --space example-space"]
  static override args = { id: Args.string({ required: true, description: 'id of the source' }) }
  static override flags = { ...spaceFlag }

  async run(): Promise<void> {
    const { args } = await this.parse(SourcesShow)
    const path = await this.resolveSource(args.id)
    const client = await this.client()
    const source = await client.request('GET /knowledge-spaces/{id}/sources/{sourceId}', { path })
    this.out.record(source, { columns: SOURCE_COLUMNS, fields: SOURCE_FIELDS })
  }
}
