import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { deleteAlias, readAliases, requireAlias, setAlias } from '../cli/aliases.js'
import { BaseCommand } from '../cli/base-command.js'
import { usageError } from '../cli/cli-error.js'
import { loadFullConfig } from '../cli/full-config.js'
import type { AliasRow } from '../cli/json-output/machine.js'

export default class Alias extends BaseCommand {
  static override isPaged = true
  static override summary = 'list your aliases, short names for commands, or set or delete one'
  static override description = '$1 to $9 in the command stand for the words after the alias.'
  static override examples = [
    "<%= config.bin %> alias ask 'query $1'",
    '<%= config.bin %> alias ask --delete',
    '<%= config.bin %> alias',
  ]
  static override args = {
    name: Args.string({ description: 'name of the alias' }),
    command: Args.string({ description: 'command with its flags, in quotation marks' }),
  }
  static override flags = { delete: Flags.boolean({ description: 'delete the alias' }) }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Alias)
    const { name, command } = args
    if (name === undefined) {
      if (flags.delete) throw usageError('`ks alias --delete` needs NAME', '`ks alias` lists them')
      return await this.listAliases()
    }
    if (flags.delete) {
      if (command !== undefined) throw usageError('--delete takes no command')
      deleteAlias(this.dirs.config, name, 'ks')
      return this.out.note(`Removed ${name}.`)
    }
    if (command === undefined) return this.showAlias({ name, command: requireAlias(this.dirs.config, name, 'ks') })
    const config = await loadFullConfig(this.config.root)
    const known = new Set(config.commandIDs.flatMap((id) => id.split(':').slice(0, 1)))
    setAlias(this.dirs.config, { name, command }, known, 'ks')
    this.out.note(`\`ks ${name}\` now runs \`ks ${command}\`.`)
  }

  private showAlias(alias: AliasRow): void {
    if (this.out.isJson) this.out.json(alias)
    else this.out.line(alias.command)
  }

  private async listAliases(): Promise<void> {
    const aliases = Object.entries(readAliases(this.dirs.config))
    const entries = aliases.map(([name, command]): AliasRow => ({ name, command }))
    await this.out.list(entries, {
      columns: [{ field: 'name' }, { field: 'command' }],
      empty: 'No aliases yet.',
      hint: "`ks alias NAME 'query $1 --space example-space'` creates one",
    })
  }
}
