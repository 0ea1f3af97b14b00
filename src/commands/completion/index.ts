import * as Args from '@oclif/core/args'
import type { Command } from '@oclif/core/command'
import { BaseCommand } from '../../cli/base-command.js'
import { usageError } from '../../cli/cli-error.js'
import { commonFlags } from '../../cli/common-flags.js'
import { findCompletionKind, KS_NAMES } from '../../cli/completing/kinds.js'
import { type CompletionCommand, renderCompletionScript, SHELLS } from '../../cli/completion.js'
import { loadFullConfig } from '../../cli/full-config.js'

export default class Completion extends BaseCommand {
  static override summary = 'print the completion script of a shell'
  static override examples = [
    'source <(<%= config.bin %> completion bash)',
    '<%= config.bin %> completion fish > ~/ks.fish',
  ]
  static override args = { shell: Args.string({ required: true, options: [...SHELLS], description: 'shell' }) }

  async run(): Promise<void> {
    const { args } = await this.parse(Completion)
    const shell = SHELLS.find((candidate) => candidate === args.shell)
    if (shell === undefined) throw usageError(`no completion for ${JSON.stringify(args.shell)}`)
    const { bin, commands } = await loadFullConfig(this.config.root)
    this.out.raw(renderCompletionScript(shell, bin, this.toCompletionCommands(commands)))
  }

  private toCompletionCommands(listed: Command.Loadable[]): CompletionCommand[] {
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
      const choices = args[0]?.options ?? []
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
