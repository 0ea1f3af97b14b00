import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'

export default class DocsArtifact extends BaseCommand {
  static override isPaged = true
  static override summary = 'show the parsed elements of a document'
  static override examples = [
    "<%= config.bin %> docs artifact '#a1b2c3d4' --space example-space --text",
    "<%= config.bin %> docs artifact '#a1b2c3d4' --space example-space --format jsonl",
  ]
  static override args = { id: Args.string({ required: true, description: 'path or id of the document' }) }
  static override flags = {
    ...spaceFlag,
    version: Flags.integer({
      min: 1,
      helpValue: 'n',
      description: 'version of the document (default: the current one)',
    }),
    text: Flags.boolean({ description: 'print only the text' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(DocsArtifact)
    const { id, documentId } = await this.resolveDocument(args.id)
    const client = await this.client()
    const path = { id, documentId }
    const version =
      flags.version ?? (await client.request('GET /knowledge-spaces/{id}/documents/{documentId}', { path })).version
    const artifact = await client.request(
      'GET /knowledge-spaces/{id}/documents/{documentId}/parse-artifacts/{version}',
      { path: { ...path, version: String(version) } },
    )
    if (flags.text) {
      const texts = artifact.elements.flatMap((element) => element.text ?? [])
      this.out.text(`${texts.join('\n\n')}\n`)
    } else if (this.out.format === 'json') {
      this.out.json(artifact)
    } else {
      await this.out.list(artifact.elements, {
        columns: [
          { field: 'type' },
          { field: 'pageNumber', title: 'PAGE' },
          { field: 'sectionPath', title: 'SECTION' },
          { field: 'text' },
        ],
        fields: ['id', 'metadata'],
        empty: 'The document has no elements.',
      })
    }
  }
}
