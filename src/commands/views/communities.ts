import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { COVERAGE_FIELDS, formatCoverageNote } from '../../cli/views.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

export default class ViewsCommunities extends BaseCommand {
  static override isPaged = true
  static override summary = 'build the communities of related entities'
  static override description = 'List them with `ks fs ls /knowledge/communities`.'
  static override examples = ['<%= config.bin %> views communities --space example-space']
  static override flags = {
    ...spaceFlag,
    'view-version': Flags.string({ helpValue: 'text', description: 'version name of the views' }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(ViewsCommunities)
    const { id } = await this.space()
    const client = await this.client()
    const version = flags['view-version']
    const result = await client.request('POST /knowledge-spaces/{id}/semantic-views/communities/materialize', {
      path: { id },
      body: omitUndefined({ generatedVersion: version }),
    })
    this.out.record(result, {
      fields: ['communityCount', 'entityCount', 'documentCount', 'pathCount', 'generatedVersion', ...COVERAGE_FIELDS],
    })
    const note = formatCoverageNote(result)
    if (note !== undefined) this.out.note(note)
  }
}
