import { posix } from 'node:path'
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { usageError } from '../../cli/cli-error.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { importInBatches, printImport } from '../../cli/sources.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

export default class SourcesImportFiles extends BaseCommand {
  static override summary = 'import files of a drive as documents'
  static override description = 'Exits with 3 if some files fail.'
  static override examples = [
    "<%= config.bin %> sources import-files '#a1b2c3d4' notes/tides.md notes/winds.pdf --space example-space",
  ]
  static override strict = false
  static override args = {
    id: Args.string({ required: true, description: 'id of the source' }),
    file: Args.string({ description: 'ids of files, from `sources files`' }),
  }
  static override flags = {
    ...spaceFlag,
    bucket: Flags.string({ helpValue: 'name', description: 'bucket, if the source has none' }),
    type: Flags.string({ helpValue: 'type', description: 'media type of the files' }),
  }

  async run(): Promise<void> {
    const { args, argv, flags } = await this.parse(SourcesImportFiles)
    const ids = argv.slice(1).map(String)
    if (ids.length === 0) throw usageError('no files are given', '`ks sources files ID` lists them')
    const path = await this.resolveSource(args.id)
    const client = await this.client()
    const fileFields = omitUndefined({ bucket: flags.bucket, mimeType: flags.type })
    const requested = ids.map((file) => ({ id: file, name: posix.basename(file).slice(-255) || file, ...fileFields }))
    const result = await importInBatches(requested, (files) =>
      client.request('POST /knowledge-spaces/{id}/sources/{sourceId}/import-files', { path, body: { files } }),
    )
    await printImport(this.out, result)
  }
}
