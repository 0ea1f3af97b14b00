import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { ExitWith } from '../../cli/cli-error.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { confirm } from '../../cli/prompt.js'
import { EXIT } from '../../contract/errors.js'
import { pluralize } from '../../lib/text/pluralize.js'

/** Maximum documents that are deleted without confirmation. */
const MAX_UNCONFIRMED_COUNT = 10

export default class DocsDelete extends BaseCommand {
  static override summary = 'delete documents and all derived data'
  static override examples = [
    '<%= config.bin %> docs delete handbook/on-call.md --space example-space',
    "<%= config.bin %> docs delete '#a1b2c3d4' --space example-space",
    '<%= config.bin %> docs --space example-space --all --format tsv --fields id | xargs -r <%= config.bin %> docs delete --space example-space --yes',
  ]
  static override strict = false
  static override args = { id: Args.string({ required: true, description: 'paths or ids of documents' }) }
  static override flags = {
    ...spaceFlag,
    'dry-run': Flags.boolean({ description: 'show what would be deleted, without deleting' }),
  }

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(DocsDelete)
    const { id, documentIds } = await this.resolveDocuments(argv)
    const description = pluralize(documentIds.length, 'document')
    if (flags['dry-run']) {
      await this.out.list(
        documentIds.map((documentId) => ({ documentId })),
        {
          columns: [{ field: 'documentId', title: 'WOULD DELETE' }],
          empty: '',
        },
      )
      return
    }
    if (documentIds.length > MAX_UNCONFIRMED_COUNT && !(await confirm(`deleting ${description}`, this.prompt))) {
      this.out.note('Nothing was deleted.')
      return
    }
    const client = await this.client()
    const done = await client.request('DELETE /knowledge-spaces/{id}/documents/bulk', {
      path: { id },
      body: { documentIds },
    })
    await this.out.list(done.items, {
      columns: [
        { field: 'documentId', title: 'DOCUMENT', kind: 'id' },
        { field: 'status', kind: 'state' },
        { field: 'nodesDeleted', title: 'PASSAGES', kind: 'count' },
      ],
      empty: 'Nothing was deleted.',
    })
    const missing = done.items.filter((item) => item.status === 'not_found').length
    if (missing === 0) return
    this.out.warn(`ks: ${missing} of ${description} were not found`)
    throw new ExitWith(missing === done.items.length ? EXIT.notFound : EXIT.partial)
  }
}
