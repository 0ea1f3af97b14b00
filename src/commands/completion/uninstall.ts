import { rmSync } from 'node:fs'
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { isInstalledByUs, listScriptFiles, resolveShell } from '../../cli/completion-files.js'
import { confirm } from '../../cli/prompt.js'

export default class CompletionUninstall extends BaseCommand {
  static override summary = 'remove the completion scripts of `completion install`'
  static override examples = ['<%= config.bin %> completion uninstall bash --yes']
  static override args = { shell: Args.string({ description: 'bash, zsh or fish (default: from SHELL)' }) }
  static override flags = { 'dry-run': Flags.boolean({ description: 'show what would be removed, without removing' }) }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(CompletionUninstall)
    const shell = resolveShell(args.shell, process.env)
    const files = listScriptFiles(shell, process.env)
    const paths = files.filter(isInstalledByUs).map(({ path }) => path)
    const isDryRun = flags['dry-run']
    if (paths.length > 0 && !isDryRun && !(await confirm(`remove ${paths.join(' and ')}`, this.prompt))) return
    if (!isDryRun) for (const path of paths) rmSync(path, { force: true })
    if (this.out.isJson) return this.out.json({ shell, removed: paths, dryRun: isDryRun })
    for (const path of paths) this.out.line(`${isDryRun ? 'would be removed' : 'removed'}: ${path}`)
    for (const { path, existing } of files)
      if (existing !== undefined && !paths.includes(path)) this.out.note(`not installed by ks, kept: ${path}`)
    if (paths.length === 0) this.out.note(`no completion script is installed for ${shell}`)
  }
}
