import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import type { Deletion } from '../../cli/json-output/machine.js'
import { confirm } from '../../cli/prompt.js'

export default class SourcesDelete extends BaseCommand {
  static override summary = 'delete a source with its documents'
  static override examples = [
    "<%= config.bin %> sources delete '#a1b2c3d4' --yes --space example-space",
    "<%= config.bin %> sources delete '#a1b2c3d4' --keep-documents --yes --space example-space",
  ]
  static override args = { id: Args.string({ required: true, description: 'id of the source' }) }
  static override flags = {
    ...spaceFlag,
    'keep-documents': Flags.boolean({ description: 'keep its documents in the space' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(SourcesDelete)
    const path = await this.resolveSource(args.id)
    const description = flags['keep-documents'] ? 'deleting the source' : 'deleting the source with its documents'
    if (!(await confirm(description, this.prompt))) {
      this.out.note('Nothing was deleted.')
      return
    }
    const client = await this.client()
    await client.request('DELETE /knowledge-spaces/{id}/sources/{sourceId}', {
      path,
      query: { documents: flags['keep-documents'] ? 'keep' : 'cascade' },
    })
    if (this.out.isJson) this.out.json({ id: path.sourceId, deleted: true } satisfies Deletion)
    else this.out.note('Deleted.')
  }
}
