import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { scriptFiles, scriptOf, shellNamed, stillToDo } from '../../cli/completion-files.js'
import { writeKept } from '../../cli/kept-file.js'
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
    const shell = shellNamed(args.shell, process.env)
    const plans = await Promise.all(
      scriptFiles(shell, process.env).map(async (file) => {
        const text = await scriptOf(file.program, shell, this.config.root)
        return { ...file, text, changes: text !== file.before }
      }),
    )
    const changed = plans.filter(({ changes }) => changes)
    const todo = stillToDo(shell, process.env)
    const isDry = flags['dry-run']
    if (changed.length > 0 && !isDry) {
      const paths = changed.map(({ path }) => path).join(' and ')
      if (!(await confirm(`write ${paths}`, this.prompt))) return
    }
    const written = changed.map(({ path, text, before }) => {
      return { path, backup: isDry ? undefined : writeKept({ path, text, isNew: before === undefined }) }
    })
    if (this.out.isJson) return this.out.json({ shell, written, dryRun: isDry, toDo: todo ?? null })
    for (const { path, changes } of plans)
      this.out.line(`${!changes ? 'up to date' : isDry ? 'would be written' : 'written'}: ${path}`)
    for (const { backup } of written) if (backup !== undefined) this.out.note(`backup: ${backup}`)
    if (todo !== undefined) this.out.note(todo)
    else if (!isDry) this.out.note(`takes effect in the next ${shell} that starts`)
  }
}
