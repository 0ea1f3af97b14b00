import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { resolveId } from '../../cli/resolve.js'
import { defined } from '../../lib/defined.js'

export default class SourcesFiles extends BaseCommand {
  static override summary = 'list folders and files of a drive'
  static override examples = [
    "<%= config.bin %> sources files '#a1b2c3d4' --space example-space",
    "<%= config.bin %> sources files '#a1b2c3d4' --prefix notes/2026/ --space example-space",
  ]
  static override args = { id: Args.string({ required: true, description: 'id of the source' }) }
  static override flags = {
    ...spaceFlag,
    prefix: Flags.string({ helpValue: 'text', description: 'what the ids begin with; a folder ends in /' }),
    bucket: Flags.string({ helpValue: 'name', description: 'bucket, where the source does not name one' }),
    'max-keys': Flags.integer({ min: 1, max: 1000, helpValue: 'n', description: 'most entries (default 1000)' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(SourcesFiles)
    const { prefix, bucket, 'max-keys': maxKeys } = flags
    const { id } = await this.space()
    const sourceId = resolveId('source', args.id, this.dirs.cache)
    const client = await this.client()
    const { buckets } = await client.request('GET /knowledge-spaces/{id}/sources/{sourceId}/files', {
      path: { id, sourceId },
      query: {
        ...defined({ prefix, bucket, maxKeys }),
      },
    })
    // a bucket of which no file was asked for is an entry itself
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
    if (buckets.some(({ isTruncated }) => isTruncated)) this.out.note('more: name a longer `--prefix`')
  }
}
