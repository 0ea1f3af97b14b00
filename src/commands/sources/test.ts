import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { ExitWith } from '../../cli/cli-error.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { EXIT } from '../../contract/errors.js'

export default class SourcesTest extends BaseCommand {
  static override summary = 'test whether a source can be reached'
  static override description = 'Exits with 10 if it cannot.'
  static override examples = ["<%= config.bin %> sources test '#a1b2c3d4' --space example-space"]
  static override args = { id: Args.string({ required: true, description: 'id of the source' }) }
  static override flags = { ...spaceFlag }

  async run(): Promise<void> {
    const { args } = await this.parse(SourcesTest)
    const path = await this.resolveSource(args.id)
    const client = await this.client()
    const result = await client.request('POST /knowledge-spaces/{id}/sources/{sourceId}/test', {
      path,
    })
    this.out.record(result, { columns: [{ field: 'valid' }, { field: 'error' }] })
    if (!result.valid) throw new ExitWith(EXIT.checkFailed)
  }
}
