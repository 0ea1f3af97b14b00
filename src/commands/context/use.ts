import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { requireContext } from '../../cli/contexts.js'
import { readUserConfig, writeUserConfig } from '../../cli/user-config.js'

export default class ContextUse extends BaseCommand {
  static override summary = 'select the service that commands use'
  static override examples = ['<%= config.bin %> context use work', '<%= config.bin %> context use local']
  static override args = { name: Args.string({ required: true, description: 'name of the context' }) }

  async run(): Promise<void> {
    const { args } = await this.parse(ContextUse)
    const config = readUserConfig(this.dirs.config)
    requireContext(args.name, config)
    config.currentContext = args.name
    writeUserConfig(this.dirs.config, config)
    this.out.note(`Commands now use ${args.name}.`)
  }
}
