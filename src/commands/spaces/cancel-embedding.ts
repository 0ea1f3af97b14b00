import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { resolveId } from '../../cli/resolve.js'

export default class SpacesCancelEmbedding extends BaseCommand {
  static override summary = 'cancel the migration of a space to another embedding model'
  static override examples = ["<%= config.bin %> spaces cancel-embedding example-space '#a1b2c3d4'"]
  static override args = {
    space: Args.string({ required: true, description: 'slug or id' }),
    id: Args.string({ required: true, description: 'id of the migration, from `ks spaces set-embedding`' }),
  }

  async run(): Promise<void> {
    const { args } = await this.parse(SpacesCancelEmbedding)
    const { id } = await this.resolveSpace(args.space)
    const migrationId = resolveId('migration', args.id, this.dirs.cache)
    const client = await this.client()
    const path = { id, migrationId }
    const canceled = await client.request('DELETE /knowledge-spaces/{id}/embedding-profile/migrations/{migrationId}', {
      path,
    })
    this.out.record(canceled, { fields: ['id', 'state', 'filled', 'total', 'refused', 'error'] })
  }
}
