import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { SPACE_FIELDS } from '../../cli/resources.js'

export default class SpacesShow extends BaseCommand {
  static override summary = 'show one knowledge space'
  static override examples = ['<%= config.bin %> spaces show example-space']
  static override args = { space: Args.string({ required: true, description: 'slug or id' }) }

  async run(): Promise<void> {
    const { args } = await this.parse(SpacesShow)
    const { id, space } = await this.spaceNamed(args.space)
    const client = await this.client()
    const found = space ?? (await client.request('GET /knowledge-spaces/{id}', { path: { id } }))
    this.out.record(found, { columns: SPACE_FIELDS.map((field) => column(field)), fields: SPACE_FIELDS })
  }
}

function column(field: string) {
  return field.endsWith('At') ? { field, kind: 'time' as const } : { field }
}
