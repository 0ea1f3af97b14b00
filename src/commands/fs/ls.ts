import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import type { OutputColumn } from '../../cli/columns.js'
import { listFlags, spaceFlag } from '../../cli/common-flags.js'
import { FsCommand } from '../../cli/fs/fs-command.js'
import { listAcross } from '../../cli/fs/reader.js'
import { ROOT_PATH } from '../../cli/fs-path.js'
import { getPathColumns } from '../../cli/resources.js'

const LONG_COLUMNS: OutputColumn[] = [
  { field: 'kind' },
  { field: 'metadata.sizeBytes', title: 'SIZE', kind: 'bytes' },
  { field: 'metadata.updatedAt', title: 'CHANGED', kind: 'time' },
  { field: 'path' },
]

export default class FsLs extends FsCommand {
  static override isPaged = true
  static override summary = 'list folders of a space; without a path, its root'
  static override examples = [
    '<%= config.bin %> fs ls /knowledge/documents --space example-space',
    '<%= config.bin %> fs ls -l "/sources/**/*.md" --space example-space',
    '<%= config.bin %> fs ls /sources/uploads --space example-space --all --format jsonl',
  ]
  static override strict = false
  static override args = { path: Args.string({ description: 'paths, which may have wildcards' }) }
  static override flags = {
    ...spaceFlag,
    ...listFlags,
    long: Flags.boolean({ char: 'l', description: 'show sizes and times of change' }),
  }

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(FsLs)
    const paths = await this.expandPaths(argv.length === 0 ? [ROOT_PATH] : argv)
    const reader = await this.reader()
    const items = listAcross(paths, this.getListRange(flags), (path, range) => reader.list(path, range))
    await this.list(items, {
      columns: flags.long ? LONG_COLUMNS : getPathColumns(this.out.format),
      empty: `${paths.join(', ')} is empty.`,
    })
  }
}
