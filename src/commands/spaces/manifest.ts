import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'

export default class SpacesManifest extends BaseCommand {
  static override isPaged = true
  static override summary = 'show the versioned settings of a space'
  static override examples = [
    '<%= config.bin %> spaces manifest example-space',
    '<%= config.bin %> spaces manifest example-space --format json --fields quotaPolicy.maxNodeCount',
  ]
  static override args = { space: Args.string({ required: true, description: 'slug or id' }) }

  async run(): Promise<void> {
    const { args } = await this.parse(SpacesManifest)
    const { id } = await this.resolveSpace(args.space)
    const client = await this.client()
    this.out.record(await client.request('GET /knowledge-spaces/{id}/manifest', { path: { id } }))
  }
}
