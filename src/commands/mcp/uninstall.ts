import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { installFlags } from '../../cli/mcp/flags.js'
import { parseClientName, planUninstall, writePlan } from '../../cli/mcp/install.js'
import { confirm } from '../../cli/prompt.js'

export default class McpUninstall extends BaseCommand {
  static override summary = 'remove `ks mcp` from the configuration of an MCP client'
  static override examples = [
    '<%= config.bin %> mcp uninstall claude --dry-run',
    '<%= config.bin %> mcp uninstall vscode --project --yes',
  ]
  static override args = { client: Args.string({ required: true, description: 'the client' }) }
  static override flags = {
    ...installFlags,
    'dry-run': Flags.boolean({ description: 'show what would be done, without doing it' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(McpUninstall)
    const plan = await planUninstall(parseClientName(args.client), flags)
    const { title, path, text } = plan
    const changes = text !== undefined
    if (this.out.isJson && (flags['dry-run'] || !changes)) return this.out.json({ client: args.client, path, changes })
    if (!changes) return this.out.line(`${title} does not start it: ${path}`)
    if (flags['dry-run']) return this.out.line(`${flags.name} would be removed from ${path}`)
    if (!(await confirm(`remove ${flags.name} from ${path}`, this.prompt))) return
    const backup = writePlan(plan)
    if (this.out.isJson) return this.out.json({ client: args.client, path, changes, backup: backup ?? null })
    this.out.line(`${title} no longer starts it: ${path}`)
    if (backup !== undefined) this.out.note(`backup: ${backup}`)
  }
}
