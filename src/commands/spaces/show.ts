import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { SPACE_FIELDS } from '../../cli/resources.js'

export default class SpacesShow extends BaseCommand {
  static override isPaged = true
  static override summary = 'show a knowledge space, its versioned settings, or its retrieval profile'
  static override examples = [
    '<%= config.bin %> spaces show example-space',
    '<%= config.bin %> spaces show example-space --profile',
    '<%= config.bin %> spaces show example-space --manifest --format json --fields quotaPolicy.maxNodeCount',
  ]
  static override args = { space: Args.string({ description: 'slug or id' }) }
  static override flags = {
    ...spaceFlag,
    manifest: Flags.boolean({ description: 'show the versioned settings and quotas', exclusive: ['profile'] }),
    profile: Flags.boolean({ description: 'show the retrieval profile: modes, models and limits of queries' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(SpacesShow)
    const { id, space } = await this.spaceOf(args.space)
    const client = await this.client()
    if (flags.manifest)
      return this.out.record(await client.request('GET /knowledge-spaces/{id}/manifest', { path: { id } }))
    if (flags.profile)
      return this.out.record(await client.request('GET /knowledge-spaces/{id}/retrieval-profile', { path: { id } }))
    const spaceRecord = space ?? (await client.request('GET /knowledge-spaces/{id}', { path: { id } }))
    this.out.record(spaceRecord, { columns: SPACE_FIELDS.map((field) => toColumn(field)) })
  }
}

function toColumn(field: string) {
  return field.endsWith('At') ? { field, kind: 'time' as const } : { field }
}
