import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

export default class SourcesFiles extends BaseCommand {
  static override summary = 'list the folders and files of a drive'
  static override examples = [
    "<%= config.bin %> sources files '#a1b2c3d4' --space example-space",
    "<%= config.bin %> sources files '#a1b2c3d4' --prefix notes/2026/ --space example-space",
  ]
  static override args = { id: Args.string({ required: true, description: 'id of the source' }) }
  static override flags = {
    ...spaceFlag,
    prefix: Flags.string({ helpValue: 'text', description: 'prefix of the ids; a folder ends in /' }),
    bucket: Flags.string({ helpValue: 'name', description: 'bucket, if the source has none' }),
    'max-keys': Flags.integer({ min: 1, max: 1000, helpValue: 'n', description: 'maximum entries (default 1000)' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(SourcesFiles)
    const { prefix, bucket, 'max-keys': maxKeys } = flags
    const path = await this.resolveSource(args.id)
    const client = await this.client()
    const { buckets } = await client.request('GET /knowledge-spaces/{id}/sources/{sourceId}/files', {
      path,
      query: omitUndefined({ prefix, bucket, maxKeys }),
    })
    // A bucket whose files were not requested is itself an entry.
    const entries = buckets.flatMap(({ bucket, files }) =>
      files.length === 0 && bucket !== undefined && flags.bucket === undefined && prefix === undefined
        ? [{ id: bucket, name: bucket, type: 'bucket', bucket }]
        : files.map((file) => ({ ...file, bucket })),
    )
    await this.out.list(entries, {
      columns: [
        { field: 'id', title: 'FILE' },
        { field: 'type' },
        { field: 'size', kind: 'bytes' },
        { field: 'bucket' },
      ],
      fields: ['name'],
      empty: 'There are no files.',
    })
    if (buckets.some(({ isTruncated }) => isTruncated)) this.out.note('more: give a longer `--prefix`')
  }
}
