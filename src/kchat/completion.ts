import type { Command } from 'commander'
import { findCompletionKind, KCHAT_NAMES } from '../cli/completing/kinds.js'
import { type CompletionCommand, type CompletionShell, renderCompletionScript } from '../cli/completion.js'

/** A command with its words, such as `apps list`. */
export interface NamedCommand {
  words: string[]
  command: Command
}

/** Lists all commands that are not groups, in the order of the help. */
export function listLeafCommands(parent: Command, parentWords: string[] = []): NamedCommand[] {
  return parent.commands.flatMap((command) => {
    const words = [...parentWords, command.name()]
    return command.commands.length === 0 ? [{ words, command }] : listLeafCommands(command, words)
  })
}

/** Builds the completion script of a shell. */
export function buildCompletion(shell: CompletionShell, root: Command): string {
  const commands = listLeafCommands(root).flatMap(({ words, command }): CompletionCommand[] => {
    const flags = command.options.map(({ long, short, description, required, argChoices }) => ({
      name: long?.slice(2) ?? '',
      char: short?.slice(1),
      description,
      takesValue: required,
      options: argChoices ?? [],
      hasDynamicValues: Object.hasOwn(KCHAT_NAMES.flags, long ?? ''),
    }))
    const summary = command.description()
    const { registeredArguments: args } = command
    const choices = args[0]?.argChoices ?? []
    // `list` is the default command of its group.
    const spellings = words.at(-1) === 'list' ? [words, words.slice(0, -1)] : [words]
    return spellings.map((spelling) => {
      const hasDynamicArguments = args.some((_, index) =>
        hasCandidates([...spelling, ...args.slice(0, index).map(() => 'any')]),
      )
      return { words: spelling, summary, flags, hasDynamicArguments, choices }
    })
  })
  return renderCompletionScript(shell, root.name(), commands)
}

/** Whether the word after these words has candidates that depend on the service or on files. */
function hasCandidates(words: string[]): boolean {
  return findCompletionKind({ words, typed: '', replaceStart: 0 }, KCHAT_NAMES) !== undefined
}
