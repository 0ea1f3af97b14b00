import { Readable } from 'node:stream'
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { usageError } from '../../cli/cli-error.js'
import { outputFlag, spaceFlag } from '../../cli/common-flags.js'
import {
  type DocumentForm,
  EMPTY_FORM_MESSAGES,
  FORMS,
  renderFormParts,
  toFormValue,
} from '../../cli/document/forms.js'
import { ELEMENT_COLUMNS, ITEM_COLUMNS, listTableIds } from '../../cli/document/parts.js'
import { loadStoredDocument } from '../../cli/document/stored.js'
import { formatReadingProgress, listReadings } from '../../cli/reading.js'
import { saveBody } from '../../cli/save-body.js'
import { formatBytes } from '../../cli/units.js'

/** Lists of the parts of a document, in addition to the forms of its content. */
const PART_FORMS = ['elements', 'items'] as const

interface DocumentPath {
  id: string
  documentId: string
}

export default class DocsShow extends BaseCommand {
  static override isPaged = true
  static override summary = 'show a document: its metadata, its content, or one of its tables and pictures'
  static override description =
    'Cells of a table are printed unchanged: spreadsheets take a cell that begins with =, +, - or @ for a formula, so import untrusted CSV as text.'
  static override examples = [
    '<%= config.bin %> docs show handbook/on-call.md --space example-space',
    '<%= config.bin %> docs show handbook/on-call.md --space example-space --as markdown',
    '<%= config.bin %> docs show handbook/on-call.md --space example-space --as tables --json',
    "<%= config.bin %> docs show '#a1b2c3d4' --space example-space --as items",
    "<%= config.bin %> docs show '#a1b2c3d4' --space example-space --table 1 -o table.csv",
    "<%= config.bin %> docs show '#a1b2c3d4' --space example-space --item ITEM --variant preview -o small.jpg",
  ]
  static override args = { id: Args.string({ required: true, description: 'path or id of the document' }) }
  static override flags = {
    ...spaceFlag,
    as: Flags.string({
      options: [...FORMS, ...PART_FORMS],
      description: 'content in this form; the parsed elements; or the tables, pictures, code blocks and pages',
    }),
    version: Flags.integer({
      min: 1,
      helpValue: 'n',
      description: 'version of the document, with `--as elements` (default: the current one)',
    }),
    table: Flags.integer({
      min: 1,
      helpValue: 'n',
      description: 'table with this number, from 1 in reading order',
      exclusive: ['as', 'item'],
    }),
    item: Flags.string({
      helpValue: 'id',
      description: 'bytes of an item that `--as items` lists',
      exclusive: ['as'],
    }),
    variant: Flags.string({
      helpValue: 'name',
      description: 'csv, json or md of a table (default: csv); thumbnail, preview or page of a picture',
    }),
    ...outputFlag,
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(DocsShow)
    const isPart = flags.table !== undefined || flags.item !== undefined
    if (!isPart && (flags.variant ?? flags.output) !== undefined)
      throw usageError('`--variant` and `--output` apply to a table or an item', 'give `--table N` or `--item ID`')
    const { id, documentId } = await this.resolveDocument(args.id)
    if (isPart) return await this.savePart({ id, documentId }, flags)
    if (flags.as === 'elements') return await this.printElements({ id, documentId }, flags.version)
    if (flags.as === 'items') return await this.printItems({ id, documentId })
    const form = FORMS.find((candidate) => candidate === flags.as)
    if (form !== undefined) return await this.printContent({ id, documentId }, form)
    const client = await this.client()
    const document = await client.request('GET /knowledge-spaces/{id}/documents/{documentId}', {
      path: { id, documentId },
    })
    this.out.record(document)
    if (document.parserStatus !== 'pending') return
    const job = (await listReadings(client, id)).find((candidate) => candidate.documentAssetId === documentId)
    if (job !== undefined) this.out.note(`Being parsed: ${formatReadingProgress(job.progress)}.`)
  }

  private async printContent(path: DocumentPath, form: DocumentForm): Promise<void> {
    const content = await loadStoredDocument(await this.client(), path, form)
    if (this.out.isJson) return this.out.json(toFormValue(form, content))
    let isEmpty = true
    const unicode = this.out.unicode
    const encodePieces = function* () {
      for (const piece of renderFormParts(form, content, { unicode })) {
        isEmpty = false
        yield Buffer.from(piece)
      }
    }
    await saveBody(Readable.from(encodePieces()), undefined, this.outputStage)
    if (isEmpty) this.out.note(EMPTY_FORM_MESSAGES[form])
    else if (form === 'pictures') {
      const name = this.out.shortenId(path.documentId)
      this.out.note(`hint: \`ks docs show '${name}' --item ITEM -o FILE\` saves one`)
    }
  }

  private async printElements(path: DocumentPath, requestedVersion: number | undefined): Promise<void> {
    const client = await this.client()
    const version =
      requestedVersion ?? (await client.request('GET /knowledge-spaces/{id}/documents/{documentId}', { path })).version
    const artifact = await client.request(
      'GET /knowledge-spaces/{id}/documents/{documentId}/parse-artifacts/{version}',
      { path: { ...path, version: String(version) } },
    )
    if (this.out.format === 'json') return this.out.json(artifact)
    await this.out.list(artifact.elements, {
      columns: ELEMENT_COLUMNS,
      empty: 'The document has no elements.',
    })
  }

  private async loadItems(path: DocumentPath) {
    const client = await this.client()
    return (await client.request('GET /knowledge-spaces/{id}/documents/{documentId}/multimodal', { path })).items
  }

  private async printItems(path: DocumentPath): Promise<void> {
    await this.out.list(await this.loadItems(path), {
      columns: ITEM_COLUMNS,
      empty: 'The document has no tables, pictures, code blocks or pages.',
    })
  }

  private async savePart(
    path: DocumentPath,
    flags: Partial<Record<'item' | 'variant' | 'output', string | undefined>> & { table?: number | undefined },
  ): Promise<void> {
    if (flags.table === undefined && flags.output === undefined && this.out.isTerminal)
      throw usageError('binary output is not written to a terminal', 'give `-o FILE`')
    const tableId = flags.table === undefined ? undefined : await this.findTable(path, flags.table)
    const tableVariant = tableId === undefined ? undefined : this.out.isJson ? 'json' : 'csv'
    const variant = flags.variant ?? tableVariant
    const client = await this.client()
    const body = await client.download('GET /knowledge-spaces/{id}/documents/{documentId}/multimodal/{itemId}/asset', {
      path: { ...path, itemId: tableId ?? flags.item ?? '' },
      query: variant === undefined ? {} : { variant },
    })
    const size = await saveBody(body, flags.output, this.outputStage)
    if (flags.output !== undefined) this.out.note(`Wrote ${flags.output}, ${formatBytes(size)}.`)
  }

  private async findTable(path: DocumentPath, number: number): Promise<string> {
    const ids = listTableIds(await this.loadItems(path))
    const id = ids[number - 1]
    if (id !== undefined) return id
    throw usageError(
      `the document has ${ids.length} tables and no table ${number}`,
      '`ks docs show ID --as tables` prints them',
    )
  }
}
