import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { DOCUMENT_FIELDS } from '../../cli/resources.js'

export default class DocsShow extends BaseCommand {
  static override summary = 'show one document'
  static override examples = [
    '<%= config.bin %> docs show handbook/on-call.md --space example-space',
    "<%= config.bin %> docs show '#a1b2c3d4' --space example-space",
  ]
  static override args = { id: Args.string({ required: true, description: 'path or id of the document' }) }
  static override flags = { ...spaceFlag }

  async run(): Promise<void> {
    const { args } = await this.parse(DocsShow)
    const { id, documentId } = await this.documentNamed(args.id)
    const client = await this.client()
    const document = await client.request('GET /knowledge-spaces/{id}/documents/{documentId}', {
      path: { id, documentId },
    })
    this.out.record(document, { fields: DOCUMENT_FIELDS })
  }
}
