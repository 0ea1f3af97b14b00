import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { installFlags } from '../../cli/mcp/flags.js'
import { clientNamed, planUninstall, write } from '../../cli/mcp/install.js'
import { confirm } from '../../cli/prompt.js'

export default class McpUninstall extends BaseCommand {
  static override summary = 'take `ks mcp` out of the configuration of an MCP client'
  static override examples = [
    '<%= config.bin %> mcp uninstall claude --dry-run',
    '<%= config.bin %> mcp uninstall vscode --project --yes',
  ]
  static override args = { client: Args.string({ required: true, description: 'the client' }) }
  static override flags = { ...installFlags, 'dry-run': Flags.boolean({ description: 'only say what would be done' }) }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(McpUninstall)
    const plan = await planUninstall(clientNamed(args.client), flags)
    const { title, path, text } = plan
    const changes = text !== undefined
    if (this.out.isJson && (flags['dry-run'] || !changes)) return this.out.json({ client: args.client, path, changes })
    if (!changes) return this.out.line(`${title} does not start it: ${path}`)
    if (flags['dry-run']) return this.out.line(`${flags.name} would be taken out of ${path}`)
    if (!(await confirm(`take ${flags.name} out of ${path}`, this.prompt))) return
    const backup = write(plan)
    if (this.out.isJson) return this.out.json({ client: args.client, path, changes, backup: backup ?? null })
    this.out.line(`${title} does not start it any more: ${path}`)
    if (backup !== undefined) this.out.note(`what it was: ${backup}`)
  }
}
