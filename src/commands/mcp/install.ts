import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { usageError } from '../../cli/cli-error.js'
import { spaceFlag } from '../../cli/common-flags.js'
import type { McpEntryChange } from '../../cli/json-output/machine.js'
import { installFlags } from '../../cli/mcp/flags.js'
import { createServerEntry, parseClientName, planInstall, planUninstall, writePlan } from '../../cli/mcp/install.js'
import { confirm } from '../../cli/prompt.js'

type UninstallFlags = Parameters<typeof planUninstall>[1] & { 'dry-run': boolean }

export default class McpInstall extends BaseCommand {
  static override summary = 'configure an MCP client to start `ks mcp`, or remove it there'
  static override description =
    'Other content of the configuration file stays unchanged, including comments; a backup is stored next to it. Clients: claude, claude-desktop, cursor, vscode, codex, zed, gemini, windsurf.'
  static override examples = [
    '<%= config.bin %> mcp install claude --dry-run',
    '<%= config.bin %> mcp install vscode --project --space example-space --yes',
    '<%= config.bin %> mcp install claude --uninstall',
  ]
  static override args = { client: Args.string({ required: true, description: 'name of the client' }) }
  static override flags = {
    ...spaceFlag,
    ...installFlags,
    uninstall: Flags.boolean({ description: 'remove `ks mcp` from the configuration of the client' }),
    'dry-run': Flags.boolean({ description: 'show what would be written or removed, without doing it' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(McpInstall)
    if (flags.uninstall) return await this.uninstall(args.client, flags)
    const server = createServerEntry(this.config.root, this.listServerArguments(flags.space), process.env)
    const plan = await planInstall(parseClientName(args.client), server, flags)
    const { title, path, entryText, text, failure } = plan
    if (failure !== undefined) {
      if (flags['dry-run'] && !this.out.isJson) this.out.text(entryText)
      throw failure
    }
    if (this.out.isJson && flags['dry-run'])
      return this.printChange({ client: args.client, path, changes: text !== undefined, text: text ?? null })
    if (text === undefined) {
      if (this.out.isJson) return this.printChange({ client: args.client, path, changes: false })
      return this.out.line(`${title} already starts it: ${path}`)
    }
    if (flags['dry-run']) {
      this.out.note(`${title}: ${path} would ${plan.isNew ? 'be created with' : 'get'}`)
      return this.out.text(entryText)
    }
    this.out.note(entryText)
    if (!(await confirm(`add this to ${path}`, this.prompt))) return
    const backup = writePlan(plan)
    if (this.out.isJson) return this.printChange({ client: args.client, path, changes: true, backup: backup ?? null })
    this.out.line(`${title} will start \`ks mcp\` at its next start: ${path}`)
    if (backup !== undefined) this.out.note(`backup: ${backup}`)
    this.out.note(`\`ks mcp install ${args.client} --uninstall${flags.project ? ' --project' : ''}\` removes it`)
  }

  private async uninstall(client: string, flags: UninstallFlags): Promise<void> {
    const plan = await planUninstall(parseClientName(client), flags)
    const { title, path, text } = plan
    const changes = text !== undefined
    if (this.out.isJson && (flags['dry-run'] || !changes)) return this.printChange({ client, path, changes })
    if (!changes) return this.out.line(`${title} does not start it: ${path}`)
    if (flags['dry-run']) return this.out.line(`${flags.name} would be removed from ${path}`)
    if (!(await confirm(`remove ${flags.name} from ${path}`, this.prompt))) return
    const backup = writePlan(plan)
    if (this.out.isJson) return this.printChange({ client, path, changes, backup: backup ?? null })
    this.out.line(`${title} no longer starts it: ${path}`)
    if (backup !== undefined) this.out.note(`backup: ${backup}`)
  }

  private printChange(change: McpEntryChange): void {
    this.out.json(change)
  }

  /** Arguments for the server: the flags that select the service. A token is never written to the file. */
  private listServerArguments(space: string | undefined): string[] {
    const { context, url, tokenFile } = this.common.context
    if (url !== undefined && tokenFile === undefined)
      throw usageError(
        '--url needs --token-file here',
        '`ks context NAME --url URL` stores a service with its token under a name',
      )
    const { service } = this.settings
    if (service.origin === 'environment' && service.value.kind === 'remote')
      throw usageError('a client does not start `ks` with KS_URL or KS_CONTEXT', 'give `--context NAME`')
    const options: [string, string | undefined][] = [
      ['--context', context],
      ['--url', url],
      ['--token-file', tokenFile],
      ['--space', space],
    ]
    return options.flatMap(([flag, value]) => (value === undefined ? [] : [flag, value]))
  }
}
