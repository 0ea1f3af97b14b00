import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { ExitWith } from '../../cli/cli-error.js'
import { spaceFlag } from '../../cli/common-flags.js'
import type { SourceFileRow, SourcePageRow } from '../../cli/json-output/documents.js'
import { SOURCE_COLUMNS } from '../../cli/sources.js'
import { EXIT } from '../../contract/errors.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

interface SourcePath {
  id: string
  sourceId: string
}

interface FileFilter {
  prefix?: string | undefined
  bucket?: string | undefined
  limit?: number | undefined
}

const ONLY_FILES = { dependsOn: ['files'] }

export default class SourcesShow extends BaseCommand {
  static override summary = 'show a source and its last synchronization, its files or pages, or test it'
  static override description = '`--test` exits with 10 if the source cannot be reached.'
  static override examples = [
    "<%= config.bin %> sources show '#a1b2c3d4' --space example-space",
    "<%= config.bin %> sources show '#a1b2c3d4' --files --prefix notes/2026/ --space example-space",
    "<%= config.bin %> sources show '#a1b2c3d4' --pages --space example-space",
    "<%= config.bin %> sources show '#a1b2c3d4' --test --space example-space",
  ]
  static override args = { id: Args.string({ required: true, description: 'id of the source' }) }
  static override flags = {
    ...spaceFlag,
    files: Flags.boolean({ description: 'list the folders and files of a drive', exclusive: ['pages', 'test'] }),
    prefix: Flags.string({ ...ONLY_FILES, helpValue: 'text', description: 'prefix of the ids; a folder ends in /' }),
    bucket: Flags.string({ ...ONLY_FILES, helpValue: 'name', description: 'bucket, if the source has none' }),
    limit: Flags.integer({
      ...ONLY_FILES,
      char: 'n',
      aliases: ['max-keys'],
      min: 1,
      max: 1000,
      helpValue: 'n',
      description: 'maximum files (default 1000)',
    }),
    pages: Flags.boolean({ description: 'list the pages of a connector source', exclusive: ['test'] }),
    test: Flags.boolean({ description: 'test whether the source can be reached' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(SourcesShow)
    const path = await this.resolveSource(args.id)
    if (flags.files) return await this.listFiles(path, flags)
    if (flags.pages) return await this.listPages(path)
    if (flags.test) return await this.test(path)
    const client = await this.client()
    const source = await client.request('GET /knowledge-spaces/{id}/sources/{sourceId}', { path })
    this.out.record(source, { columns: SOURCE_COLUMNS })
  }

  private async listFiles(path: SourcePath, flags: FileFilter): Promise<void> {
    const { prefix, bucket, limit: maxKeys } = flags
    const client = await this.client()
    const { buckets } = await client.request('GET /knowledge-spaces/{id}/sources/{sourceId}/files', {
      path,
      query: omitUndefined({ prefix, bucket, maxKeys }),
    })
    // A bucket whose files were not requested is itself an entry.
    const entries = buckets.flatMap<SourceFileRow>(({ bucket, files }) =>
      files.length === 0 && bucket !== undefined && flags.bucket === undefined && prefix === undefined
        ? [{ id: bucket, name: bucket, type: 'bucket', bucket }]
        : files.map((file) => ({ ...file, bucket })),
    )
    await this.out.list(entries, {
      columns: [
        { field: 'id', title: 'FILE' },
        { field: 'type' },
        { field: 'size', kind: 'bytes' },
        { field: 'bucket' },
      ],
      empty: 'There are no files.',
    })
    if (buckets.some(({ isTruncated }) => isTruncated)) this.out.note('more: give a longer `--prefix`')
  }

  private async listPages(path: SourcePath): Promise<void> {
    const client = await this.client()
    const { workspaces } = await client.request('GET /knowledge-spaces/{id}/sources/{sourceId}/pages', {
      path,
    })
    const pages = workspaces.flatMap<SourcePageRow>(({ pages, workspaceId, workspaceName }) =>
      pages.map((page) => ({ ...page, workspaceId, workspaceName })),
    )
    await this.out.list(pages, {
      columns: [
        { field: 'pageId', title: 'PAGE' },
        { field: 'pageName', title: 'NAME' },
        { field: 'lastEditedTime', title: 'EDITED', kind: 'time' },
        { field: 'workspaceName', title: 'WORKSPACE' },
      ],
      empty: 'There are no pages.',
    })
  }

  private async test(path: SourcePath): Promise<void> {
    const client = await this.client()
    const result = await client.request('POST /knowledge-spaces/{id}/sources/{sourceId}/test', {
      path,
    })
    this.out.record(result, { columns: [{ field: 'valid' }, { field: 'error' }] })
    if (!result.valid) throw new ExitWith(EXIT.checkFailed)
  }
}
