import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { usageError } from '../../cli/cli-error.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { sourceMetadataFlags } from '../../cli/source-flags.js'
import { SOURCE_COLUMNS, toSourceMetadata } from '../../cli/sources.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

export default class SourcesUpdate extends BaseCommand {
  static override summary = 'change a source; other fields stay unchanged'
  static override examples = [
    "<%= config.bin %> sources update '#a1b2c3d4' --daily 02:00,14:00 --space example-space",
    "<%= config.bin %> sources update '#a1b2c3d4' --disable --space example-space",
  ]
  static override args = { id: Args.string({ required: true, description: 'id of the source' }) }
  static override flags = {
    ...spaceFlag,
    ...sourceMetadataFlags,
    name: Flags.string({ helpValue: 'text', description: 'new name' }),
    enable: Flags.boolean({ description: 'enable synchronization', exclusive: ['disable'] }),
    disable: Flags.boolean({ description: 'disable synchronization, and cancel a running crawl' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(SourcesUpdate)
    const changes = toSourceMetadata(flags)
    const status: 'active' | 'disabled' | undefined = flags.enable ? 'active' : flags.disable ? 'disabled' : undefined
    if (changes === undefined && status === undefined && flags.name === undefined)
      throw usageError('nothing to change', 'give `--name`, `--enable`, `--disable`, `--every` or `--daily`')
    const path = await this.resolveSource(args.id)
    const client = await this.client()
    const current = await client.request('GET /knowledge-spaces/{id}/sources/{sourceId}', { path })
    const source = await client.request('PATCH /knowledge-spaces/{id}/sources/{sourceId}', {
      path,
      body: {
        ...omitUndefined({ name: flags.name, status }),
        // The metadata are replaced as a whole, so `expectedVersion` detects concurrent writes.
        ...(changes === undefined
          ? {}
          : { metadata: { ...current.metadata, ...changes }, expectedVersion: current.version }),
      },
    })
    this.out.record(source, { columns: SOURCE_COLUMNS })
  }
}
