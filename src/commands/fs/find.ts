import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { usageError } from '../../cli/cli-error.js'
import { listFlags, spaceFlag } from '../../cli/common-flags.js'
import { FsCommand } from '../../cli/fs/fs-command.js'
import { type FsRange, listAcross, selectItems } from '../../cli/fs/reader.js'
import { compileWildcards, hasWildcards } from '../../cli/fs/wildcards.js'
import { DOCUMENTS_PATH } from '../../cli/fs-path.js'
import { getPathColumns } from '../../cli/resources.js'
import { RESOURCE_TYPES } from '../../contract/values.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

export default class FsFind extends FsCommand {
  static override isPaged = true
  static override summary = 'find files of a space by name, type or metadata'
  static override examples = [
    '<%= config.bin %> fs find /knowledge --name report --type document --space example-space',
    '<%= config.bin %> fs find /sources --meta language=en --space example-space',
  ]
  static override strict = false
  static override args = { path: Args.string({ description: 'paths to search below (default /sources)' }) }
  static override flags = {
    ...spaceFlag,
    ...listFlags,
    name: Flags.string({
      helpValue: 'text|pattern',
      description: 'text that the name contains, or a pattern such as "*.md"',
    }),
    type: Flags.option({ options: RESOURCE_TYPES, description: 'type of resource' })(),
    meta: Flags.string({ helpValue: 'key=value', description: 'metadata of the entry' }),
  }

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(FsFind)
    const { name } = flags
    const isPattern = name !== undefined && hasWildcards(name)
    const matches = isPattern ? await compileWildcards(name, { ignoreCase: true }) : () => true
    const filter = {
      ...omitUndefined({ nameContains: isPattern ? findLongestLiteral(name) : name, resourceType: flags.type }),
      ...(flags.meta === undefined ? {} : parseMetadata(flags.meta)),
    }
    const paths = await this.expandPaths(argv.length === 0 ? [DOCUMENTS_PATH] : argv)
    const reader = await this.reader()
    const items = listAcross(paths, this.getListRange(flags), (path, range) => {
      const find = (all: FsRange) => reader.find(path, filter, all)
      return isPattern ? selectItems(find, range, (item) => matches(item.name)) : find(range)
    })
    await this.list(items, {
      columns: getPathColumns(this.out.format),
      empty: `Nothing below ${paths.join(', ')} matches.`,
    })
  }
}

/** The longest part of a pattern that every name it matches contains; undefined if there is none. */
function findLongestLiteral(pattern: string): string | undefined {
  if (/[[{\\]/.test(pattern)) return undefined
  const [longest = ''] = pattern.split(/[*?]/).sort((a, b) => b.length - a.length)
  return longest === '' ? undefined : longest
}

function parseMetadata(text: string): { metadataKey: string; metadataValue?: string } {
  const separatorIndex = text.indexOf('=')
  if (separatorIndex === 0 || text === '')
    throw usageError(`--meta must be key=value, received ${JSON.stringify(text)}`)
  return separatorIndex === -1
    ? { metadataKey: text }
    : { metadataKey: text.slice(0, separatorIndex), metadataValue: text.slice(separatorIndex + 1) }
}
