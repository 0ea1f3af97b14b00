import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'

export default class SpacesProfile extends BaseCommand {
  static override summary = 'show the retrieval profile of a space'
  static override examples = ['<%= config.bin %> spaces profile example-space']
  static override args = { space: Args.string({ required: true, description: 'slug or id' }) }

  async run(): Promise<void> {
    const { args } = await this.parse(SpacesProfile)
    const { id } = await this.resolveSpace(args.space)
    const client = await this.client()
    this.out.record(await client.request('GET /knowledge-spaces/{id}/retrieval-profile', { path: { id } }))
  }
}
