import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { SPACE_FIELDS } from '../../cli/resources.js'

export default class SpacesShow extends BaseCommand {
  static override summary = 'show one knowledge space'
  static override examples = ['<%= config.bin %> spaces show example-space']
  static override args = { space: Args.string({ required: true, description: 'slug or id' }) }

  async run(): Promise<void> {
    const { args } = await this.parse(SpacesShow)
    const { id, space } = await this.resolveSpace(args.space)
    const client = await this.client()
    const spaceRecord = space ?? (await client.request('GET /knowledge-spaces/{id}', { path: { id } }))
    this.out.record(spaceRecord, { columns: SPACE_FIELDS.map((field) => toColumn(field)), fields: SPACE_FIELDS })
  }
}

function toColumn(field: string) {
  return field.endsWith('At') ? { field, kind: 'time' as const } : { field }
}
