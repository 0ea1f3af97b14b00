import * as Args from '@oclif/core/args'
import { readAliases, writeAliases } from '../../cli/aliases.js'
import { BaseCommand } from '../../cli/base-command.js'
import { CliError } from '../../cli/cli-error.js'
import { EXIT } from '../../contract/errors.js'

export default class AliasDelete extends BaseCommand {
  static override summary = 'delete an alias'
  static override examples = ['<%= config.bin %> alias delete ask']
  static override args = { name: Args.string({ required: true, description: 'name of the alias' }) }

  async run(): Promise<void> {
    const { args } = await this.parse(AliasDelete)
    const { [args.name]: command, ...others } = readAliases(this.dirs.config)
    if (command === undefined)
      throw new CliError(`there is no alias ${JSON.stringify(args.name)}`, {
        code: 'not-found',
        exit: EXIT.notFound,
        hint: '`ks alias` lists them',
      })
    writeAliases(this.dirs.config, others)
    this.out.note(`Removed ${args.name}.`)
  }
}
