import { Readable } from 'node:stream'
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import {
  type DocumentForm,
  EMPTY_FORM_MESSAGES,
  FORMS,
  renderFormParts,
  toFormValue,
} from '../../cli/document/forms.js'
import { loadStoredDocument } from '../../cli/document/stored.js'
import { formatReadingProgress, listReadings } from '../../cli/reading.js'
import { DOCUMENT_FIELDS } from '../../cli/resources.js'
import { saveBody } from '../../cli/save-body.js'

export default class DocsShow extends BaseCommand {
  static override isPaged = true
  static override summary = 'show a document: its metadata or its content'
  static override examples = [
    '<%= config.bin %> docs show handbook/on-call.md --space example-space',
    "<%= config.bin %> docs show '#a1b2c3d4' --space example-space",
    '<%= config.bin %> docs show handbook/on-call.md --space example-space --as markdown',
    '<%= config.bin %> docs show handbook/on-call.md --space example-space --as tables --json',
  ]
  static override args = { id: Args.string({ required: true, description: 'path or id of the document' }) }
  static override flags = {
    ...spaceFlag,
    as: Flags.string({ options: FORMS, description: 'content in this form (default: metadata)' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(DocsShow)
    const { id, documentId } = await this.resolveDocument(args.id)
    const form = FORMS.find((candidate) => candidate === flags.as)
    if (form !== undefined) return await this.printContent({ id, documentId }, form)
    const client = await this.client()
    const document = await client.request('GET /knowledge-spaces/{id}/documents/{documentId}', {
      path: { id, documentId },
    })
    this.out.record(document, { fields: DOCUMENT_FIELDS })
    if (document.parserStatus !== 'pending') return
    const job = (await listReadings(client, id)).find((candidate) => candidate.documentAssetId === documentId)
    if (job !== undefined) this.out.note(`Being parsed: ${formatReadingProgress(job.progress)}.`)
  }

  private async printContent(path: { id: string; documentId: string }, form: DocumentForm): Promise<void> {
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
      this.out.note(`hint: \`ks docs asset '${name}' ITEM -o FILE\` saves one`)
    }
  }
}
