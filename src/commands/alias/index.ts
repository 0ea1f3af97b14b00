import { readAliases } from '../../cli/aliases.js'
import { BaseCommand } from '../../cli/base-command.js'

export default class Alias extends BaseCommand {
  static override isPaged = true
  static override summary = 'list your aliases, short names for commands'
  static override aliases = ['alias:list', 'alias:ls']
  static override examples = ['<%= config.bin %> alias']

  async run(): Promise<void> {
    await this.parse(Alias)
    const entries = Object.entries(readAliases(this.dirs.config)).map(([name, command]) => ({ name, command }))
    await this.out.list(entries, {
      columns: [{ field: 'name' }, { field: 'command' }],
      empty: 'No aliases yet.',
      hint: "`ks alias set NAME 'query $1 --space example-space'` creates one",
    })
  }
}
