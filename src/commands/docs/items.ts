import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'

export default class DocsItems extends BaseCommand {
  static override isPaged = true
  static override summary = 'list the tables, pictures, code blocks and pages of a document'
  static override examples = ["<%= config.bin %> docs items '#a1b2c3d4' --space example-space"]
  static override args = { id: Args.string({ required: true, description: 'path or id of the document' }) }
  static override flags = { ...spaceFlag }

  async run(): Promise<void> {
    const { args } = await this.parse(DocsItems)
    const { id, documentId } = await this.resolveDocument(args.id)
    const client = await this.client()
    const manifest = await client.request('GET /knowledge-spaces/{id}/documents/{documentId}/multimodal', {
      path: { id, documentId },
    })
    await this.out.list(manifest.items, {
      columns: [
        { field: 'id' },
        { field: 'modality' },
        { field: 'pageNumber', title: 'PAGE' },
        { field: 'title' },
        { field: 'textPreview', title: 'TEXT' },
      ],
      fields: ['caption', 'ocrText', 'sectionPath', 'enrichment', 'assetRef', 'sourceMetadata'],
      empty: 'The document has no tables, pictures, code blocks or pages.',
    })
  }
}
