import * as Args from '@oclif/core/args'
import { ALIAS_NAME, readAliases, wordsOf, writeAliases } from '../../cli/aliases.js'
import { BaseCommand } from '../../cli/base-command.js'
import { usageError } from '../../cli/cli-error.js'
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
    if (!ALIAS_NAME.test(name))
      throw usageError(`an alias is a letter and up to 63 letters, digits, - and _, received ${JSON.stringify(name)}`)
    const config = await wholeConfig(this.config.root)
    const known = new Set(config.commandIDs.flatMap((id) => id.split(':').slice(0, 1)))
    if (known.has(name)) throw usageError(`${JSON.stringify(name)} is a command, which an alias may not hide`)
    const [first = ''] = wordsOf(command)
    if (!known.has(first))
      throw usageError(
        `an alias begins with a command of ks, received ${JSON.stringify(first)}`,
        '`ks --help` lists them',
      )
    writeAliases(this.dirs.config, { ...readAliases(this.dirs.config), [name]: command })
    this.out.note(`\`ks ${name}\` is \`ks ${command}\` from now on.`)
  }
}
