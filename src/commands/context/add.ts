import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { usageError } from '../../cli/cli-error.js'
import { LOCAL_CONTEXT, normalizeServiceUrl, readUserConfig, writeUserConfig } from '../../cli/user-config.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

export default class ContextAdd extends BaseCommand {
  static override summary = 'add a service under a name'
  static override examples = ['<%= config.bin %> context add work --url https://kb.example.com --space example-space']
  static override args = { name: Args.string({ required: true, description: 'name of the context' }) }
  static override flags = {
    space: Flags.string({ char: 's', helpValue: 'slug|id', description: 'default space of the context' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ContextAdd)
    const { url } = this.common.context
    if (url === undefined) throw usageError('a context needs an address', 'give `--url URL`')
    if (args.name === LOCAL_CONTEXT || !/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(args.name)) {
      throw usageError(
        `${JSON.stringify(args.name)} cannot be the name of a context: letters, digits and . _ -, not local`,
      )
    }
    const config = readUserConfig(this.dirs.config)
    const entry = { url: normalizeServiceUrl(url), ...omitUndefined({ space: flags.space }) }
    config.contexts[args.name] = entry
    writeUserConfig(this.dirs.config, config)
    if (this.out.isJson) this.out.json({ name: args.name, ...entry })
    else
      this.out.note(
        `Added ${args.name}.\nhint: \`ks auth login --context ${args.name}\`, then \`ks context use ${args.name}\``,
      )
  }
}
