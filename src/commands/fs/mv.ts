import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { parseVirtualPath } from '../../cli/fs-path.js'
import { pluralize } from '../../lib/text/pluralize.js'

export default class FsMv extends BaseCommand {
  static override summary = 'rename or move a file or folder in the workspaces; never overwrites'
  static override examples = [
    '<%= config.bin %> fs mv /workspaces/audit/notes.md /workspaces/audit/old/notes.md --space example-space',
  ]
  static override args = {
    old: Args.string({ required: true, description: 'path in /workspaces' }),
    new: Args.string({ required: true, description: 'new path in /workspaces' }),
  }
  static override flags = { ...spaceFlag }

  async run(): Promise<void> {
    const { args } = await this.parse(FsMv)
    const body = { oldPath: parseVirtualPath(args.old), newPath: parseVirtualPath(args.new) }
    const { id } = await this.space()
    const client = await this.client()
    const moved = await client.request('POST /knowledge-spaces/{id}/fs/mv', { path: { id }, body })
    if (this.out.isJson) this.out.json(moved)
    else this.out.note(`Moved ${pluralize(moved.files, 'file')}.`)
  }
}
