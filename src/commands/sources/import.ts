import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { usageError } from '../../cli/cli-error.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { resolveId } from '../../cli/resolve.js'
import { inBatches, showImport } from '../../cli/sources.js'
import { defined } from '../../lib/defined.js'

export default class SourcesImport extends BaseCommand {
  static override summary = 'make documents of pages of a connector source'
  static override description =
    'Pages that were not edited since they were imported last are skipped. Exits 3 when some pages failed.'
  static override examples = [
    "<%= config.bin %> sources import '#a1b2c3d4' docs/start.md docs/tides.md --space example-space",
    "<%= config.bin %> sources import '#a1b2c3d4' --all --space example-space",
  ]
  static override strict = false
  static override args = {
    id: Args.string({ required: true, description: 'id of the source' }),
    page: Args.string({ description: 'ids of pages, as `sources pages` lists them' }),
  }
  static override flags = { ...spaceFlag, all: Flags.boolean({ description: 'every page that is there' }) }

  async run(): Promise<void> {
    const { args, argv, flags } = await this.parse(SourcesImport)
    const named = new Set(argv.slice(1).map(String))
    const all = flags.all === true
    if (all === named.size > 0) throw usageError('either pages are named, or `--all` is given')
    const { id } = await this.space()
    const path = { id, sourceId: resolveId('source', args.id, this.dirs.cache) }
    const client = await this.client()
    const { workspaces } = await client.request('GET /knowledge-spaces/{id}/sources/{sourceId}/pages', { path })
    const there = workspaces.flatMap(({ workspaceId = '', pages }) =>
      pages.map(({ pageId, type, lastEditedTime }) => ({
        pageId,
        type,
        workspaceId,
        ...defined({ lastEditedTime }),
      })),
    )
    const wanted = there.filter(({ pageId }) => all || named.has(pageId))
    const known = new Set(wanted.map(({ pageId }) => pageId))
    const strangers = [...named].filter((pageId) => !known.has(pageId))
    const result = await inBatches(wanted, (pages) =>
      client.request('POST /knowledge-spaces/{id}/sources/{sourceId}/import', { path, body: { pages } }),
    )
    result.failed.push(...strangers.map((filename) => ({ filename, error: 'is not there' })))
    await showImport(this.out, result)
  }
}
