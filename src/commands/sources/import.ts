import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { usageError } from '../../cli/cli-error.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { inBatches, showImport } from '../../cli/sources.js'
import { defined } from '../../lib/defined.js'

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
    const named = new Set(argv.slice(1).map(String))
    const all = flags.all === true
    if (all === named.size > 0) throw usageError('give either pages or `--all`')
    const path = await this.sourceNamed(args.id)
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
    result.failed.push(...strangers.map((filename) => ({ filename, error: 'does not exist' })))
    await showImport(this.out, result)
  }
}
