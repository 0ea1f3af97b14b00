import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { listFlags, spaceFlag } from '../../cli/common-flags.js'
import { parseVirtualPath } from '../../cli/fs-path.js'
import { getPathColumns, VIRTUAL_FIELDS } from '../../cli/resources.js'
import { paginate } from '../../client/pages.js'

export default class FsLs extends BaseCommand {
  static override isPaged = true
  static override summary = 'list a folder of a space'
  static override examples = [
    '<%= config.bin %> fs ls /knowledge/documents --space example-space',
    '<%= config.bin %> fs ls /sources/uploads --space example-space --all --format jsonl',
  ]
  static override args = { path: Args.string({ required: true, description: 'path that begins with a namespace' }) }
  static override flags = { ...spaceFlag, ...listFlags }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(FsLs)
    const path = parseVirtualPath(args.path)
    const { id } = await this.space()
    const client = await this.client()
    const items = paginate(
      async (page) =>
        this.reportDegradation(
          await client.request('GET /knowledge-spaces/{id}/fs/ls', { path: { id }, query: { path, ...page } }),
        ),
      { ...this.getListRange(flags), pageSize: 1000 },
    )
    await this.list(items, {
      columns: getPathColumns(this.out.format),
      fields: VIRTUAL_FIELDS,
      empty: `${path} is empty.`,
    })
  }
}
