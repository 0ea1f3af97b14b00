import { posix } from 'node:path'
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { usageError } from '../../cli/cli-error.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { importInBatches, printImport } from '../../cli/sources.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

const CRAWL_COUNTS = ['total', 'completed', 'failed', 'imported', 'replaced', 'skipped']

interface SourcePath {
  id: string
  sourceId: string
}

export default class SourcesImport extends BaseCommand {
  static override summary = 'import pages or files of a source as documents, or crawl a web source now'
  static override description =
    'The items of a connector are pages, those of a drive are files. A web source takes none: its pages are crawled. Pages without edits since their last import are skipped. Exits with 3 if some items fail.'
  static override examples = [
    "<%= config.bin %> sources import '#a1b2c3d4' docs/start.md docs/tides.md --space example-space",
    "<%= config.bin %> sources import '#a1b2c3d4' notes/tides.md notes/winds.pdf --space example-space",
    "<%= config.bin %> sources import '#a1b2c3d4' --space example-space",
    "<%= config.bin %> sources import '#a1b2c3d4' --all --space example-space",
  ]
  static override strict = false
  static override args = {
    id: Args.string({ required: true, description: 'id of the source' }),
    item: Args.string({ description: 'ids of pages or files, from `sources show --pages` or `--files`' }),
  }
  static override flags = {
    ...spaceFlag,
    all: Flags.boolean({ description: 'import every page of a connector' }),
    bucket: Flags.string({ helpValue: 'name', description: 'bucket of the files, if the source has none' }),
    type: Flags.string({ helpValue: 'type', description: 'media type of the files' }),
  }

  async run(): Promise<void> {
    const { args, argv, flags } = await this.parse(SourcesImport)
    const items = argv.slice(1).map(String)
    const path = await this.resolveSource(args.id)
    const client = await this.client()
    const { type } = await client.request('GET /knowledge-spaces/{id}/sources/{sourceId}', { path })
    if (type === 'web') return await this.crawl(path, items)
    if (type === 'object-storage') return await this.importFiles(path, items, flags)
    if (Boolean(flags.all) === items.length > 0) throw usageError('give either pages or `--all`')
    await this.importPages(path, new Set(items))
  }

  private async crawl(path: SourcePath, items: readonly string[]): Promise<void> {
    if (items.length > 0) throw usageError('a web source has no items: all its pages are crawled')
    const client = await this.client()
    const result = await client.request('POST /knowledge-spaces/{id}/sources/{sourceId}/crawl', {
      path,
    })
    this.out.record(result, { columns: CRAWL_COUNTS.map((field) => ({ field })) })
  }

  private async importFiles(
    path: SourcePath,
    ids: readonly string[],
    flags: { bucket?: string | undefined; type?: string | undefined },
  ): Promise<void> {
    if (ids.length === 0) throw usageError('no files are given', '`ks sources show ID --files` lists them')
    const client = await this.client()
    const fileFields = omitUndefined({ bucket: flags.bucket, mimeType: flags.type })
    const requested = ids.map((file) => ({ id: file, name: posix.basename(file).slice(-255) || file, ...fileFields }))
    const result = await importInBatches(requested, (files) =>
      client.request('POST /knowledge-spaces/{id}/sources/{sourceId}/import-files', { path, body: { files } }),
    )
    await printImport(this.out, result)
  }

  /** @param requested ids of pages; all pages, if it is empty */
  private async importPages(path: SourcePath, requested: ReadonlySet<string>): Promise<void> {
    const isAll = requested.size === 0
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
