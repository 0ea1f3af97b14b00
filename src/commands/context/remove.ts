import * as Args from '@oclif/core/args'
import { BaseCommand } from '../../cli/base-command.js'
import { requireContext } from '../../cli/contexts.js'
import { removeCredential } from '../../cli/credentials.js'
import { readUserConfig, writeUserConfig } from '../../cli/user-config.js'

export default class ContextRemove extends BaseCommand {
  static override summary = 'remove a service and its stored token'
  static override examples = ['<%= config.bin %> context remove work']
  static override args = { name: Args.string({ required: true, description: 'name of the context' }) }

  async run(): Promise<void> {
    const { args } = await this.parse(ContextRemove)
    const config = readUserConfig(this.dirs.config)
    const entry = requireContext(args.name, config)
    if (entry !== undefined) {
      removeCredential(this.dirs.config, { origin: new URL(entry.url).origin, context: args.name })
      delete config.contexts[args.name]
    }
    if (config.currentContext === args.name) delete config.currentContext
    writeUserConfig(this.dirs.config, config)
    this.out.note(`Removed ${args.name}.`)
  }
}
