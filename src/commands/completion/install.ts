import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { writeWithBackup } from '../../cli/backup-write.js'
import { BaseCommand } from '../../cli/base-command.js'
import { describeRemainingStep, generateScript, listScriptFiles, resolveShell } from '../../cli/completion-files.js'
import { confirm } from '../../cli/prompt.js'

export default class CompletionInstall extends BaseCommand {
  static override summary = 'install the completion scripts of ks and kchat for a shell'
  static override description =
    'Writes them to the folder from which bash, zsh or fish loads the completions of this user. An identical file stays unchanged; another one is first copied to a backup next to it. Run this again after an update of ks.'
  static override examples = [
    '<%= config.bin %> completion install zsh --dry-run',
    '<%= config.bin %> completion install bash --yes',
  ]
  static override args = { shell: Args.string({ description: 'bash, zsh or fish (default: from SHELL)' }) }
  static override flags = { 'dry-run': Flags.boolean({ description: 'show what would be written, without writing' }) }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(CompletionInstall)
    const shell = resolveShell(args.shell, process.env)
    const plans = await Promise.all(
      listScriptFiles(shell, process.env).map(async (file) => {
        const text = await generateScript(file.program, shell, this.config.root)
        return { ...file, text, changes: text !== file.existing }
      }),
    )
    const changed = plans.filter(({ changes }) => changes)
    const nextStep = describeRemainingStep(shell, process.env)
    const isDryRun = flags['dry-run']
    if (changed.length > 0 && !isDryRun) {
      const paths = changed.map(({ path }) => path).join(' and ')
      if (!(await confirm(`write ${paths}`, this.prompt))) return
    }
    const written = changed.map(({ path, text, existing }) => {
      return { path, backup: isDryRun ? undefined : writeWithBackup({ path, text, isNew: existing === undefined }) }
    })
    if (this.out.isJson) return this.out.json({ shell, written, dryRun: isDryRun, toDo: nextStep ?? null })
    for (const { path, changes } of plans)
      this.out.line(`${!changes ? 'up to date' : isDryRun ? 'would be written' : 'written'}: ${path}`)
    for (const { backup } of written) if (backup !== undefined) this.out.note(`backup: ${backup}`)
    if (nextStep !== undefined) this.out.note(nextStep)
    else if (!isDryRun) this.out.note(`takes effect in the next ${shell} that starts`)
  }
}
