import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { parseVirtualPath } from '../../cli/fs-path.js'
import { confirm } from '../../cli/prompt.js'
import { pluralize } from '../../lib/text/pluralize.js'

export default class FsRm extends BaseCommand {
  static override summary = 'remove a file in the workspaces, or a folder with --recursive'
  static override examples = [
    '<%= config.bin %> fs rm /workspaces/audit/notes.md --space example-space',
    '<%= config.bin %> fs rm /workspaces/audit --recursive --yes --space example-space',
  ]
  static override args = { path: Args.string({ required: true, description: 'path in /workspaces' }) }
  static override flags = {
    ...spaceFlag,
    recursive: Flags.boolean({ description: 'remove a folder with its content' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(FsRm)
    const path = parseVirtualPath(args.path)
    if (flags.recursive && !(await confirm(`removing ${path} with its content`, this.prompt))) {
      this.out.note('Nothing was removed.')
      return
    }
    const { id } = await this.space()
    const client = await this.client()
    const removed = await client.request('DELETE /knowledge-spaces/{id}/fs/rm', {
      path: { id },
      query: { path, recursive: flags.recursive ? 'true' : 'false' },
    })
    if (this.out.isJson) this.out.json(removed)
    else this.out.note(`Removed ${pluralize(removed.files, 'file')}.`)
  }
}
