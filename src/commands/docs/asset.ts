import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { usageError } from '../../cli/cli-error.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { saveBody } from '../../cli/save-body.js'
import { formatBytes } from '../../cli/units.js'

export default class DocsAsset extends BaseCommand {
  static override summary = 'save the bytes of a document item'
  static override examples = [
    "<%= config.bin %> docs asset '#a1b2c3d4' ITEM --space example-space -o figure.png",
    "<%= config.bin %> docs asset '#a1b2c3d4' ITEM --variant preview --space example-space -o small.jpg",
  ]
  static override args = {
    id: Args.string({ required: true, description: 'path or id of the document' }),
    item: Args.string({ required: true, description: 'id of the item, from `ks docs items`' }),
  }
  static override flags = {
    ...spaceFlag,
    variant: Flags.string({
      helpValue: 'name',
      description: 'thumbnail, preview, page, or another variant of the item',
    }),
    output: Flags.string({ char: 'o', helpValue: 'file', description: 'file to write (default: stdout)' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(DocsAsset)
    if (flags.output === undefined && this.out.isTerminal) {
      throw usageError('binary output is not written to a terminal', 'give `-o FILE`')
    }
    const { id, documentId } = await this.resolveDocument(args.id)
    const client = await this.client()
    const body = await client.download('GET /knowledge-spaces/{id}/documents/{documentId}/multimodal/{itemId}/asset', {
      path: { id, documentId, itemId: args.item },
      query: flags.variant === undefined ? {} : { variant: flags.variant },
    })
    const size = await saveBody(body, flags.output, this.outputStage)
    if (flags.output !== undefined) this.out.note(`Wrote ${flags.output}, ${formatBytes(size)}.`)
  }
}
