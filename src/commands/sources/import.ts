import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { usageError } from '../../cli/cli-error.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { importInBatches, printImport } from '../../cli/sources.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

export default class SourcesImport extends BaseCommand {
  static override summary = 'import pages of a connector source as documents'
  static override description =
    'Pages without edits since their last import are skipped. Exits with 3 if some pages fail.'
  static override examples = [
    "<%= config.bin %> sources import '#a1b2c3d4' docs/start.md docs/tides.md --space example-space",
    "<%= config.bin %> sources import '#a1b2c3d4' --all --space example-space",
  ]
  static override strict = false
  static override args = {
    id: Args.string({ required: true, description: 'id of the source' }),
    page: Args.string({ description: 'ids of pages, from `sources pages`' }),
  }
  static override flags = { ...spaceFlag, all: Flags.boolean({ description: 'import every page of the source' }) }

  async run(): Promise<void> {
    const { args, argv, flags } = await this.parse(SourcesImport)
    const requested = new Set(argv.slice(1).map(String))
    const isAll = flags.all === true
    if (isAll === requested.size > 0) throw usageError('give either pages or `--all`')
    const path = await this.resolveSource(args.id)
    const client = await this.client()
    const { workspaces } = await client.request('GET /knowledge-spaces/{id}/sources/{sourceId}/pages', { path })
    const available = workspaces.flatMap(({ workspaceId = '', pages }) =>
      pages.map(({ pageId, type, lastEditedTime }) => ({
        pageId,
        type,
        workspaceId,
        ...omitUndefined({ lastEditedTime }),
      })),
    )
    const selected = available.filter(({ pageId }) => isAll || requested.has(pageId))
    const selectedIds = new Set(selected.map(({ pageId }) => pageId))
    const unknownIds = [...requested].filter((pageId) => !selectedIds.has(pageId))
    const result = await importInBatches(selected, (pages) =>
      client.request('POST /knowledge-spaces/{id}/sources/{sourceId}/import', { path, body: { pages } }),
    )
    result.failed.push(...unknownIds.map((filename) => ({ filename, error: 'does not exist' })))
    await printImport(this.out, result)
  }
}
