import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { listFlags, spaceFlag } from '../../cli/common-flags.js'
import { listSkipped } from '../../cli/ingest/skipped-files.js'
import { DOCUMENT_COLUMNS } from '../../cli/resources.js'
import { paginate } from '../../client/pages.js'
import type { DocumentAsset, SkippedFile } from '../../contract/gateway/documents.js'
import { FILE_FAILURES } from '../../contract/values.js'
import { isRecord } from '../../lib/json/values.js'
import { pluralize } from '../../lib/text/pluralize.js'

export default class Docs extends BaseCommand {
  static override isPaged = true
  static override summary = 'list the documents of a space'
  static override aliases = ['docs:list', 'docs:ls']
  static override examples = [
    '<%= config.bin %> docs --space example-space',
    '<%= config.bin %> docs --space example-space --skipped',
    '<%= config.bin %> docs --space example-space --all --format tsv --fields id,filename',
  ]
  static override flags = {
    ...spaceFlag,
    ...listFlags,
    skipped: Flags.boolean({ description: 'list the files that are no documents, and why' }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Docs)
    const { id } = await this.space()
    const client = await this.client()
    if (flags.skipped) {
      const all = await listSkipped(client, id)
      return await this.printSkipped(all.slice(0, this.getListRange(flags).limit), all.length)
    }
    let hiddenCount = 0
    const documents = paginate(
      async (query) => {
        const page = await client.request('GET /knowledge-spaces/{id}/documents', { path: { id }, query })
        const items = page.items.filter((document) => !isUnreadable(document))
        hiddenCount += page.items.length - items.length
        return { ...page, items }
      },
      { ...this.getListRange(flags), pageSize: 100 },
    )
    await this.list(documents, {
      columns: DOCUMENT_COLUMNS,
      empty: 'No documents yet.',
      hint: '`ks ingest PATH` adds some',
    })
    if (hiddenCount > 0) this.out.note(`${pluralize(hiddenCount, 'file')} skipped: \`ks docs --skipped\` lists them`)
  }

  private async printSkipped(shown: SkippedFile[], totalCount: number): Promise<void> {
    await this.out.list(shown, {
      columns: [
        { field: 'filename', title: 'FILE' },
        { field: 'reason' },
        { field: 'skippedAt', title: 'SKIPPED', kind: 'time' },
      ],
      empty: 'No files were skipped.',
    })
    if (shown.length < totalCount) this.out.note(`${shown.length} of ${totalCount}; \`--all\` lists all`)
  }
}

/** Whether a document was never published, since its file could not be read. */
function isUnreadable({ parserStatus, metadata: { error } }: DocumentAsset): boolean {
  return parserStatus === 'failed' && isRecord(error) && FILE_FAILURES.some((code) => code === error.code)
}
