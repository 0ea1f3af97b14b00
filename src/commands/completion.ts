import { rmSync } from 'node:fs'
import * as Args from '@oclif/core/args'
import type { Command } from '@oclif/core/command'
import * as Flags from '@oclif/core/flags'
import { writeWithBackup } from '../cli/backup-write.js'
import { BaseCommand } from '../cli/base-command.js'
import { usageError } from '../cli/cli-error.js'
import { commonFlags } from '../cli/common-flags.js'
import { findCompletionKind, KS_NAMES } from '../cli/completing/kinds.js'
import { type CompletionCommand, type CompletionShell, renderCompletionScript, SHELLS } from '../cli/completion.js'
import {
  describeRemainingStep,
  generateScript,
  isInstalledByUs,
  listScriptFiles,
  resolveShell,
} from '../cli/completion-files.js'
import { loadFullConfig } from '../cli/full-config.js'
import type { CompletionInstallation, CompletionRemoval } from '../cli/json-output/machine.js'
import { confirm } from '../cli/prompt.js'

export default class Completion extends BaseCommand {
  static override summary = 'print the completion script of a shell, or install it'
  static override description =
    '`--install` writes the scripts of ks and kchat to the folder from which bash, zsh or fish loads the completions of this user. An identical file stays unchanged; another one is first copied to a backup next to it. Run it again after an update of ks. `--uninstall` removes them.'
  static override examples = [
    '<%= config.bin %> completion bash --install --yes',
    'source <(<%= config.bin %> completion bash)',
    '<%= config.bin %> completion zsh --install --dry-run',
    '<%= config.bin %> completion bash --uninstall --yes',
  ]
  static override args = {
    shell: Args.string({ options: [...SHELLS], description: 'shell (default: from SHELL)' }),
  }
  static override flags = {
    install: Flags.boolean({ description: 'install the scripts of ks and kchat', exclusive: ['uninstall'] }),
    uninstall: Flags.boolean({ description: 'remove the scripts that `--install` wrote' }),
    'dry-run': Flags.boolean({ description: 'show what would be written or removed, without doing it' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Completion)
    // oclif leaves an absent flag undefined, although its type is boolean.
    const isDryRun = flags['dry-run'] === true
    if (flags.install) return await this.install(resolveShell(args.shell, process.env), { isDryRun })
    if (flags.uninstall) return await this.uninstall(resolveShell(args.shell, process.env), { isDryRun })
    if (isDryRun) throw usageError('--dry-run needs `--install` or `--uninstall`')
    const shell = SHELLS.find((candidate) => candidate === args.shell)
    if (shell === undefined) throw usageError('`ks completion` needs SHELL', `one of ${SHELLS.join(', ')}`)
    const { bin, commands } = await loadFullConfig(this.config.root)
    this.out.raw(renderCompletionScript(shell, bin, await this.toCompletionCommands(commands)))
  }

  private async install(shell: CompletionShell, { isDryRun }: { isDryRun: boolean }): Promise<void> {
    const plans = await Promise.all(
      listScriptFiles(shell, process.env).map(async (file) => {
        const text = await generateScript(file.program, shell, this.config.root)
        return { ...file, text, changes: text !== file.existing }
      }),
    )
    const changed = plans.filter(({ changes }) => changes)
    const nextStep = describeRemainingStep(shell, process.env)
    if (changed.length > 0 && !isDryRun) {
      const paths = changed.map(({ path }) => path).join(' and ')
      if (!(await confirm(`write ${paths}`, this.prompt))) return
    }
    const written = changed.map(({ path, text, existing }) => {
      return { path, backup: isDryRun ? undefined : writeWithBackup({ path, text, isNew: existing === undefined }) }
    })
    const toDo = nextStep ?? null
    if (this.out.isJson)
      return this.out.json({ shell, written, dryRun: isDryRun, toDo } satisfies CompletionInstallation)
    for (const { path, changes } of plans)
      this.out.line(`${!changes ? 'up to date' : isDryRun ? 'would be written' : 'written'}: ${path}`)
    for (const { backup } of written) if (backup !== undefined) this.out.note(`backup: ${backup}`)
    if (nextStep !== undefined) this.out.note(nextStep)
    else if (!isDryRun) this.out.note(`takes effect in the next ${shell} that starts`)
  }

  private async uninstall(shell: CompletionShell, { isDryRun }: { isDryRun: boolean }): Promise<void> {
    const files = listScriptFiles(shell, process.env)
    const paths = files.filter(isInstalledByUs).map(({ path }) => path)
    if (paths.length > 0 && !isDryRun && !(await confirm(`remove ${paths.join(' and ')}`, this.prompt))) return
    if (!isDryRun) for (const path of paths) rmSync(path, { force: true })
    if (this.out.isJson) return this.out.json({ shell, removed: paths, dryRun: isDryRun } satisfies CompletionRemoval)
    for (const path of paths) this.out.line(`${isDryRun ? 'would be removed' : 'removed'}: ${path}`)
    for (const { path, existing } of files)
      if (existing !== undefined && !paths.includes(path)) this.out.note(`not installed by ks, kept: ${path}`)
    if (paths.length === 0) this.out.note(`no completion script is installed for ${shell}`)
  }

  private async toCompletionCommands(listed: Command.Loadable[]): Promise<CompletionCommand[]> {
    const { listOperationIds } = await import('../cli/api/operations.js')
    // oclif lists a command again for each of its aliases.
    const aliases = new Set(listed.flatMap((command) => command.aliases))
    const commands = listed.filter((command) => !aliases.has(command.id))
    return commands.flatMap((command) => {
      const flags = Object.entries({ ...command.flags, ...commonFlags }).map(([name, flag]) => ({
        name,
        char: flag.char,
        description: flag.description ?? '',
        takesValue: flag.type === 'option',
        options: flag.type === 'option' ? (flag.options ?? []) : [],
        hasDynamicValues: Object.hasOwn(KS_NAMES.flags, `--${name}`),
      }))
      const summary = command.summary ?? ''
      const args = Object.values(command.args)
      const choices = command.id === 'api' ? listOperationIds() : (args[0]?.options ?? [])
      return [command.id, ...command.aliases].map((id) => {
        const words = id.split(':')
        const hasDynamicArguments = args.some((_, index) =>
          hasCandidates([...words, ...args.slice(0, index).map(() => 'any')]),
        )
        return { words, summary, flags, hasDynamicArguments, choices }
      })
    })
  }
}

/** Whether the word after these words has candidates that depend on the service or on files. */
function hasCandidates(words: string[]): boolean {
  return findCompletionKind({ words, typed: '', replaceStart: 0 }, KS_NAMES) !== undefined
}
