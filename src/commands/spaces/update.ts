import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { usageError } from '../../cli/cli-error.js'
import { SPACE_COLUMNS, SPACE_FIELDS } from '../../cli/resources.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

export default class SpacesUpdate extends BaseCommand {
  static override summary = 'change name, slug or description of a space'
  static override examples = ['<%= config.bin %> spaces update example-space --name "Field notes"']
  static override args = { space: Args.string({ required: true, description: 'slug or id' }) }
  static override flags = {
    name: Flags.string({ helpValue: 'name', description: 'new name' }),
    slug: Flags.string({ helpValue: 'slug', description: 'new slug' }),
    description: Flags.string({ helpValue: 'text', description: 'new description' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(SpacesUpdate)
    const { name, slug, description } = flags
    if (name === undefined && slug === undefined && description === undefined) {
      throw usageError('nothing to change', 'give `--name`, `--slug` or `--description`')
    }
    const { id } = await this.resolveSpace(args.space)
    const client = await this.client()
    const space = await client.request('PATCH /knowledge-spaces/{id}', {
      path: { id },
      body: omitUndefined({ name, slug, description }),
    })
    this.out.record(space, { columns: SPACE_COLUMNS, fields: SPACE_FIELDS })
  }
}
