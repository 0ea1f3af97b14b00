import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { usageError } from '../../cli/cli-error.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { sourceMetadataFlags } from '../../cli/source-flags.js'
import { SOURCE_COLUMNS, toSourceMetadata } from '../../cli/sources.js'
import { SOURCE_TYPES } from '../../contract/values.js'

export default class SourcesAdd extends BaseCommand {
  static override summary = 'add a source of documents'
  static override examples = [
    '<%= config.bin %> sources add Handbook --uri https://example.com/handbook/ --every 6h --space example-space',
    '<%= config.bin %> sources add Handbook --uri https://example.com/ --daily 02:00 --utc-offset +02:00 --space example-space',
    '<%= config.bin %> sources add Wiki --type connector --provider git --uri https://example.com/wiki.git --set branch=main --space example-space',
    '<%= config.bin %> sources add Drive --type object-storage --provider s3 --uri s3://example-bucket/notes/ --credentials-file keys.json --space example-space',
  ]
  static override args = { name: Args.string({ required: true, description: 'name of the source' }) }
  static override flags = {
    ...spaceFlag,
    ...sourceMetadataFlags,
    uri: Flags.string({ required: true, helpValue: 'uri', description: 'URI of the documents' }),
    type: Flags.option({ options: SOURCE_TYPES, description: 'type of the source (default: web)' })(),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(SourcesAdd)
    const type = flags.type ?? 'web'
    if (type === 'web' && !/^https?:\/\//i.test(flags.uri))
      throw usageError(`--uri of a web source must be an http or https URL, received ${JSON.stringify(flags.uri)}`)
    const metadata = toSourceMetadata(flags) ?? {}
    const { id } = await this.space()
    const client = await this.client()
    const source = await client.request('POST /knowledge-spaces/{id}/sources', {
      path: { id },
      body: { name: args.name, type, uri: flags.uri, metadata },
    })
    this.out.record(source, { columns: SOURCE_COLUMNS })
  }
}
