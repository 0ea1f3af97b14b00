import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { resolveId } from '../../cli/resolve.js'
import { SOURCE_COLUMNS, SOURCE_FIELDS } from '../../cli/sources.js'

export default class SourcesShow extends BaseCommand {
  static override summary = 'show one source, and how its last sync went'
  static override examples = ["<%= config.bin %> sources show '#a1b2c3d4' --space example-space"]
  static override args = { id: Args.string({ required: true, description: 'id of the source' }) }
  static override flags = { ...spaceFlag }

  async run(): Promise<void> {
    const { args } = await this.parse(SourcesShow)
    const { id } = await this.space()
    const sourceId = resolveId('source', args.id, this.dirs.cache)
    const client = await this.client()
    const source = await client.request('GET /knowledge-spaces/{id}/sources/{sourceId}', { path: { id, sourceId } })
    this.out.record(source, { columns: SOURCE_COLUMNS, fields: SOURCE_FIELDS })
  }
}
