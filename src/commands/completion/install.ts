import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { scriptFiles, scriptOf, shellNamed, stillToDo } from '../../cli/completion-files.js'
import { writeKept } from '../../cli/kept-file.js'
import { confirm } from '../../cli/prompt.js'

export default class CompletionInstall extends BaseCommand {
  static override summary = 'put the completion scripts of ks and kchat where a shell looks for them'
  static override description =
    'Into the folder of this user that bash, zsh or fish loads them from. A file that says the same already stays; of another one a copy is kept beside it. A newer version of ks has newer scripts: run it again then.'
  static override examples = [
    '<%= config.bin %> completion install zsh --dry-run',
    '<%= config.bin %> completion install bash --yes',
  ]
  static override args = { shell: Args.string({ description: 'bash, zsh or fish (default: that of SHELL)' }) }
  static override flags = { 'dry-run': Flags.boolean({ description: 'only say what would be written' }) }

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
      this.out.line(`${!changes ? 'is there already' : isDry ? 'would be written' : 'written'}: ${path}`)
    for (const { backup } of written) if (backup !== undefined) this.out.note(`what it was: ${backup}`)
    if (todo !== undefined) this.out.note(todo)
    else if (!isDry) this.out.note(`the next ${shell} that starts knows it`)
  }
}
