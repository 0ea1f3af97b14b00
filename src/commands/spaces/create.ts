import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { usageError } from '../../cli/cli-error.js'
import { parseModelReference, SPACE_COLUMNS, toSlug } from '../../cli/resources.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

export default class SpacesCreate extends BaseCommand {
  static override summary = 'create a knowledge space'
  static override examples = [
    '<%= config.bin %> spaces create "Example space" --slug example-space',
    '<%= config.bin %> spaces create Notes --embedding builtin/lsa/lsa-200',
  ]
  static override args = { name: Args.string({ required: true, description: 'display name of the space' }) }
  static override flags = {
    slug: Flags.string({
      helpValue: 'slug',
      description: 'short name for commands and paths (default: from the name)',
    }),
    description: Flags.string({ helpValue: 'text', description: 'description of the space' }),
    embedding: Flags.string({ helpValue: 'plugin/provider/model', description: 'embedding model' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(SpacesCreate)
    const slug = flags.slug ?? toSlug(args.name)
    if (slug === undefined) {
      throw usageError(`no slug can be derived from the name ${JSON.stringify(args.name)}`, 'give `--slug`')
    }
    const client = await this.client()
    const space = await client.request('POST /knowledge-spaces', {
      body: {
        name: args.name,
        slug,
        ...omitUndefined({ description: flags.description }),
        ...(flags.embedding === undefined
          ? {}
          : { embeddingProfile: parseModelReference(flags.embedding, '--embedding') }),
      },
    })
    this.out.record(space, { columns: SPACE_COLUMNS })
    if (this.out.format === 'table') this.out.note(`hint: \`ks ingest PATH --space ${space.slug}\` adds documents`)
  }
}
