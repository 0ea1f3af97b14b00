import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { usageError } from '../../cli/cli-error.js'
import { listFlags, spaceFlag } from '../../cli/common-flags.js'
import { parseVirtualPath } from '../../cli/fs-path.js'
import { getPathColumns, VIRTUAL_FIELDS } from '../../cli/resources.js'
import { paginate } from '../../client/pages.js'
import { RESOURCE_TYPES } from '../../contract/values.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

export default class FsFind extends BaseCommand {
  static override isPaged = true
  static override summary = 'find files of a space by name, type or metadata'
  static override examples = [
    '<%= config.bin %> fs find /knowledge --name report --type document --space example-space',
    '<%= config.bin %> fs find /sources --meta language=en --space example-space',
  ]
  static override args = { path: Args.string({ required: true, description: 'path to search below' }) }
  static override flags = {
    ...spaceFlag,
    ...listFlags,
    name: Flags.string({ helpValue: 'text', description: 'text that the name contains' }),
    type: Flags.option({ options: RESOURCE_TYPES, description: 'type of resource' })(),
    meta: Flags.string({ helpValue: 'key=value', description: 'metadata of the entry' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(FsFind)
    const path = parseVirtualPath(args.path)
    const filter = {
      path,
      ...omitUndefined({ nameContains: flags.name, resourceType: flags.type }),
      ...(flags.meta === undefined ? {} : parseMetadata(flags.meta)),
    }
    const { id } = await this.space()
    const client = await this.client()
    const items = paginate(
      async (page) =>
        this.reportDegradation(
          await client.request('GET /knowledge-spaces/{id}/fs/find', { path: { id }, query: { ...filter, ...page } }),
        ),
      { ...this.getListRange(flags), pageSize: 1000 },
    )
    await this.list(items, {
      columns: getPathColumns(this.out.format),
      fields: VIRTUAL_FIELDS,
      empty: `Nothing below ${path} matches.`,
    })
  }
}

function parseMetadata(text: string): { metadataKey: string; metadataValue?: string } {
  const separatorIndex = text.indexOf('=')
  if (separatorIndex === 0 || text === '')
    throw usageError(`--meta must be key=value, received ${JSON.stringify(text)}`)
  return separatorIndex === -1
    ? { metadataKey: text }
    : { metadataKey: text.slice(0, separatorIndex), metadataValue: text.slice(separatorIndex + 1) }
}
