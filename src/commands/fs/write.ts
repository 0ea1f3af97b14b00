import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { usageError } from '../../cli/cli-error.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { parseVirtualPath } from '../../cli/fs-path.js'
import { localPath } from '../../cli/local-path.js'
import { readStdin, readTextFile } from '../../cli/stdin.js'
import { pluralize } from '../../lib/text/pluralize.js'

export default class FsWrite extends BaseCommand {
  static override summary = "write a file in an agent's workspace, from stdin, a file or a flag"
  static override examples = [
    '<%= config.bin %> fs write /workspaces/audit/notes.md --text "Start with the contracts." --space example-space',
    '<%= config.bin %> fs write /workspaces/audit/plan.md --from plan.md --space example-space',
  ]
  static override args = { path: Args.string({ required: true, description: 'path below /workspaces/NAME' }) }
  static override flags = {
    ...spaceFlag,
    text: Flags.string({ helpValue: 'text', description: 'text to write', exclusive: ['from'] }),
    from: Flags.string({
      ...localPath,
      helpValue: 'file|-',
      description: 'file with the text; - reads stdin (default if stdin is a pipe)',
    }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(FsWrite)
    const path = parseVirtualPath(args.path)
    if (flags.text === undefined && flags.from === undefined && process.stdin.isTTY)
      throw usageError('no text to write is given', 'give `--text TEXT` or `--from FILE`, or pipe in the text')
    const { from } = flags
    const content =
      flags.text ??
      (from === undefined || from === '-' ? await readStdin('the text') : await readTextFile(from, 'the text'))
    if (content === '' && flags.text === undefined && from === undefined)
      throw usageError('stdin is empty', '`--from -` writes an empty file')
    const { id } = await this.space()
    const client = await this.client()
    const item = await client.request('PUT /knowledge-spaces/{id}/fs/write', { path: { id }, body: { path, content } })
    if (this.out.isJson) this.out.json(item)
    else
      this.out.note(
        `Wrote ${item.path}, ${pluralize(Number(item.metadata.sizeBytes), 'byte')}, version ${item.version}.`,
      )
  }
}
