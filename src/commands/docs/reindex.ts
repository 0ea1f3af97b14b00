import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { usageError } from '../../cli/cli-error.js'
import { spaceFlag } from '../../cli/common-flags.js'
import type { ReindexRow } from '../../cli/json-output/documents.js'
import { confirm } from '../../cli/prompt.js'

export default class DocsReindex extends BaseCommand {
  static override summary = 'read documents again; their old versions stay visible until then'
  static override examples = [
    "<%= config.bin %> docs reindex '#a1b2c3d4' --space example-space",
    '<%= config.bin %> docs reindex --all --space example-space --yes',
    "<%= config.bin %> docs reindex --all --space example-space --yes --json | jq -r '.[0].bulkJobId' | xargs <%= config.bin %> jobs show --wait",
  ]
  static override strict = false
  static override args = { id: Args.string({ description: 'paths or ids of documents' }) }
  static override flags = {
    ...spaceFlag,
    all: Flags.boolean({ description: 'read every document of the space again' }),
  }

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(DocsReindex)
    if ((flags.all === true) === argv.length > 0) throw usageError('give ids of documents, or `--all`')
    const { id, documentIds } = await this.resolveDocuments(argv)
    if (flags.all && !(await confirm('reading every document of the space again', this.prompt))) return
    const client = await this.client()
    const body = flags.all ? { all: true } : { documentIds }
    const reply = await client.request('POST /knowledge-spaces/{id}/documents/bulk/reindex', { path: { id }, body })
    const { bulkJobId } = reply
    const rows = reply.items.map(
      (item): ReindexRow =>
        item.status === 'queued'
          ? { documentId: item.asset.id, status: item.status, jobId: item.compilationJob.id, bulkJobId }
          : { documentId: item.documentId, status: item.status, bulkJobId },
    )
    await this.out.list(rows, {
      columns: [
        { field: 'documentId', title: 'DOCUMENT', kind: 'id' },
        { field: 'status', kind: 'state' },
        { field: 'jobId', title: 'JOB', kind: 'id' },
      ],
      empty: 'No documents to read.',
    })
    if (rows.length > 0)
      this.out.note(
        `hint: \`ks jobs show ${bulkJobId}\` shows the progress, \`ks jobs show ${bulkJobId} --wait\` waits for the end`,
      )
  }
}
