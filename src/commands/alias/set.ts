import * as Args from '@oclif/core/args'
import { setAlias } from '../../cli/aliases.js'
import { BaseCommand } from '../../cli/base-command.js'
import { loadFullConfig } from '../../cli/full-config.js'

export default class AliasSet extends BaseCommand {
  static override summary = 'create an alias for a command; $1 to $9 stand for the words after the alias'
  static override examples = [
    "<%= config.bin %> alias set ask 'query $1'",
    "<%= config.bin %> alias set latest 'docs $1'",
  ]
  static override args = {
    name: Args.string({ required: true, description: 'name of the alias' }),
    command: Args.string({ required: true, description: 'command with its flags, in quotation marks' }),
  }

  async run(): Promise<void> {
    const { args } = await this.parse(AliasSet)
    const { name, command } = args
    const config = await loadFullConfig(this.config.root)
    const known = new Set(config.commandIDs.flatMap((id) => id.split(':').slice(0, 1)))
    setAlias(this.dirs.config, { name, command }, known, 'ks')
    this.out.note(`\`ks ${name}\` now runs \`ks ${command}\`.`)
  }
}
