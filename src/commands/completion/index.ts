import * as Args from '@oclif/core/args'
import type { Command } from '@oclif/core/command'
import { BaseCommand } from '../../cli/base-command.js'
import { usageError } from '../../cli/cli-error.js'
import { commonFlags } from '../../cli/common-flags.js'
import { KS, kindOf } from '../../cli/completing/kinds.js'
import { type CompletionCommand, completionScript, SHELLS } from '../../cli/completion.js'
import { wholeConfig } from '../../cli/whole-config.js'

export default class Completion extends BaseCommand {
  static override summary = 'print the completion script of a shell'
  static override examples = [
    'source <(<%= config.bin %> completion bash)',
    '<%= config.bin %> completion fish > ~/ks.fish',
  ]
  static override args = { shell: Args.string({ required: true, options: [...SHELLS], description: 'shell' }) }

  async run(): Promise<void> {
    const { args } = await this.parse(Completion)
    const shell = SHELLS.find((known) => known === args.shell)
    if (shell === undefined) throw usageError(`no completion for ${JSON.stringify(args.shell)}`)
    const { bin, commands } = await wholeConfig(this.config.root)
    this.out.raw(completionScript(shell, bin, this.table(commands)))
  }

  private table(known: Command.Loadable[]): CompletionCommand[] {
    // oclif lists a command again for each of its aliases.
    const aliases = new Set(known.flatMap((command) => command.aliases))
    const commands = known.filter((command) => !aliases.has(command.id))
    return commands.flatMap((command) => {
      const flags = Object.entries({ ...command.flags, ...commonFlags }).map(([name, flag]) => ({
        name,
        char: flag.char,
        description: flag.description ?? '',
        takesValue: flag.type === 'option',
        options: flag.type === 'option' ? (flag.options ?? []) : [],
        asks: Object.hasOwn(KS.flags, `--${name}`),
      }))
      const summary = command.summary ?? ''
      const args = Object.values(command.args)
      const choices = args[0]?.options ?? []
      return [command.id, ...command.aliases].map((id) => {
        const words = id.split(':')
        const asks = args.some((_, at) => isKnown([...words, ...args.slice(0, at).map(() => 'any')]))
        return { words, summary, flags, asks, choices }
      })
    })
  }
}

function isKnown(words: string[]): boolean {
  return kindOf({ words, typed: '', passed: 0 }, KS) !== undefined
}
