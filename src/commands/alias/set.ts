import * as Args from '@oclif/core/args'
import { checkAlias, readAliases, writeAliases } from '../../cli/aliases.js'
import { BaseCommand } from '../../cli/base-command.js'
import { wholeConfig } from '../../cli/whole-config.js'

export default class AliasSet extends BaseCommand {
  static override summary = 'give a command a short name of yours; $1 to $9 in it are the words behind the name'
  static override examples = [
    "<%= config.bin %> alias set ask 'query $1'",
    "<%= config.bin %> alias set latest 'docs $1'",
  ]
  static override args = {
    name: Args.string({ required: true, description: 'the short name' }),
    command: Args.string({ required: true, description: 'the command with its flags, in quotation marks' }),
  }

  async run(): Promise<void> {
    const { args } = await this.parse(AliasSet)
    const { name, command } = args
    const config = await wholeConfig(this.config.root)
    const known = new Set(config.commandIDs.flatMap((id) => id.split(':').slice(0, 1)))
    checkAlias(name, command, known, 'ks')
    writeAliases(this.dirs.config, { ...readAliases(this.dirs.config), [name]: command })
    this.out.note(`\`ks ${name}\` is \`ks ${command}\` from now on.`)
  }
}
