import * as Args from '@oclif/core/args'
import { deleteAlias } from '../../cli/aliases.js'
import { BaseCommand } from '../../cli/base-command.js'

export default class AliasDelete extends BaseCommand {
  static override summary = 'delete an alias'
  static override examples = ['<%= config.bin %> alias delete ask']
  static override args = { name: Args.string({ required: true, description: 'name of the alias' }) }

  async run(): Promise<void> {
    const { args } = await this.parse(AliasDelete)
    deleteAlias(this.dirs.config, args.name, 'ks')
    this.out.note(`Removed ${args.name}.`)
  }
}
