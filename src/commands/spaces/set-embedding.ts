import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { modelReference } from '../../cli/resources.js'

export default class SpacesSetEmbedding extends BaseCommand {
  static override summary = 'choose the embedding model of a space without documents'
  static override examples = ['<%= config.bin %> spaces set-embedding example-space builtin/lsa/lsa-200']
  static override args = {
    space: Args.string({ required: true, description: 'slug or id' }),
    model: Args.string({ required: true, description: 'plugin/provider/model' }),
  }

  async run(): Promise<void> {
    const { args } = await this.parse(SpacesSetEmbedding)
    const body = modelReference(args.model, 'MODEL')
    const { id } = await this.spaceNamed(args.space)
    const client = await this.client()
    this.out.record(await client.request('PUT /knowledge-spaces/{id}/embedding-profile', { path: { id }, body }))
  }
}
