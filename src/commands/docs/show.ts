import { Readable } from 'node:stream'
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { FORMS, type Form, formPieces, formValue, NOTHING } from '../../cli/document/forms.js'
import { shownOfStored } from '../../cli/document/stored.js'
import { progressInWords, readings } from '../../cli/reading.js'
import { DOCUMENT_FIELDS } from '../../cli/resources.js'
import { saveBody } from '../../cli/save-body.js'

export default class DocsShow extends BaseCommand {
  static override pages = true
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
    const { id, documentId } = await this.documentNamed(args.id)
    const form = FORMS.find((one) => one === flags.as)
    if (form !== undefined) return await this.show({ id, documentId }, form)
    const client = await this.client()
    const document = await client.request('GET /knowledge-spaces/{id}/documents/{documentId}', {
      path: { id, documentId },
    })
    this.out.record(document, { fields: DOCUMENT_FIELDS })
    if (document.parserStatus !== 'pending') return
    const job = (await readings(client, id)).find((one) => one.documentAssetId === documentId)
    if (job !== undefined) this.out.note(`Being parsed: ${progressInWords(job.progress)}.`)
  }

  private async show(path: { id: string; documentId: string }, form: Form): Promise<void> {
    const shown = await shownOfStored(await this.client(), path, form)
    if (this.out.isJson) return this.out.json(formValue(form, shown))
    let isEmpty = true
    const unicode = this.out.unicode
    const noting = function* () {
      for (const piece of formPieces(form, shown, { unicode })) {
        isEmpty = false
        yield Buffer.from(piece)
      }
    }
    await saveBody(Readable.from(noting()), undefined, this.between)
    if (isEmpty) this.out.note(NOTHING[form])
    else if (form === 'pictures') {
      const name = this.out.short(path.documentId)
      this.out.note(`hint: \`ks docs asset '${name}' ITEM -o FILE\` saves one`)
    }
  }
}
