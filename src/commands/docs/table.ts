import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { usageError } from '../../cli/cli-error.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { saveBody } from '../../cli/save-body.js'
import { formatBytes } from '../../cli/units.js'
import type { MultimodalItem } from '../../contract/gateway/document-parts.js'
import { pluralize } from '../../lib/text/pluralize.js'

export default class DocsTable extends BaseCommand {
  static override isPaged = true
  static override summary = 'list the tables of a document, or print one as CSV, JSON or Markdown'
  static override description =
    'Without a number, lists the tables. Cells are printed unchanged: spreadsheets take a cell that begins with =, +, - or @ for a formula, so import untrusted CSV as text.'
  static override examples = [
    "<%= config.bin %> docs table '#a1b2c3d4' --space example-space",
    "<%= config.bin %> docs table '#a1b2c3d4' 1 --space example-space -o table.csv",
  ]
  static override args = {
    id: Args.string({ required: true, description: 'path or id of the document' }),
    number: Args.integer({ min: 1, description: 'number of the table, from 1 in reading order' }),
  }
  static override flags = {
    ...spaceFlag,
    as: Flags.string({
      options: ['csv', 'json', 'md'],
      description: 'format of the table (default: csv; with `--format json`: json)',
    }),
    output: Flags.string({ char: 'o', helpValue: 'file', description: 'file to write (default: stdout)' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(DocsTable)
    if (args.number === undefined && (flags.as !== undefined || flags.output !== undefined)) {
      throw usageError('`--as` and `--output` apply to one table', 'give its number')
    }
    const { id, documentId } = await this.resolveDocument(args.id)
    const client = await this.client()
    const manifest = await client.request('GET /knowledge-spaces/{id}/documents/{documentId}/multimodal', {
      path: { id, documentId },
    })
    const tables = toDocumentTables(manifest.items)
    if (args.number === undefined) {
      await this.printTables(tables)
      return
    }
    const table = tables[args.number - 1]
    if (table === undefined) {
      throw usageError(
        `the document has ${pluralize(tables.length, 'table')} and no table ${args.number}`,
        'omit the number to list the tables',
      )
    }
    const variant = flags.as ?? (this.out.format === 'json' || this.out.format === 'jsonl' ? 'json' : 'csv')
    const body = await client.download('GET /knowledge-spaces/{id}/documents/{documentId}/multimodal/{itemId}/asset', {
      path: { id, documentId, itemId: table.id },
      query: { variant },
    })
    const size = await saveBody(body, flags.output, this.outputStage)
    if (flags.output !== undefined) this.out.note(`Wrote ${flags.output}, ${formatBytes(size)}.`)
  }

  private async printTables(tables: readonly TableSummary[]): Promise<void> {
    await this.out.list(tables, {
      columns: [
        { field: 'number', title: 'N' },
        { field: 'pageNumber', title: 'PAGE' },
        { field: 'rows' },
        { field: 'columns' },
        { field: 'caption' },
        { field: 'text' },
      ],
      fields: ['id'],
      empty: 'The document has no tables.',
    })
  }
}

interface TableSummary {
  number: number
  pageNumber: number | undefined
  rows: number
  columns: unknown
  caption: string | undefined
  text: string | undefined
  id: string
}

/** The tables of a document. A table in several parts is one entry with the id of its first part. */
function toDocumentTables(items: readonly MultimodalItem[]): TableSummary[] {
  const tables: TableSummary[] = []
  for (const { id, modality, pageNumber, caption, title, textPreview: text, sourceMetadata } of items) {
    if (modality !== 'table') continue
    const { rowCount, columnCount: columns, part } = { rowCount: 0, columnCount: 0, part: 1, ...sourceMetadata }
    const rows = typeof rowCount === 'number' ? rowCount : 0
    const previous = tables.at(-1)
    if (part !== 1 && previous !== undefined) previous.rows += rows
    else tables.push({ number: tables.length + 1, pageNumber, rows, columns, caption: caption ?? title, text, id })
  }
  return tables
}
