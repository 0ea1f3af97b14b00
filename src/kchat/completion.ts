import type { Command } from 'commander'
import { findCompletionKind, KCHAT_NAMES } from '../cli/completing/kinds.js'
import { type CompletionCommand, type CompletionShell, completionScript } from '../cli/completion.js'

/** A command with its words. The default command of a group also has the words of the group. */
export interface NamedCommand {
  words: string[]
  command: Command
}

/** All commands, in the order of the help. */
export function listLeafCommands(parent: Command, parentWords: string[] = []): NamedCommand[] {
  return parent.commands.flatMap((command) => {
    const words = [...parentWords, command.name()]
    return command.commands.length === 0 ? [{ words, command }] : listLeafCommands(command, words)
  })
}

/** `kchat completion SHELL`. */
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
    const group = words.slice(0, -1)
    const names = words.at(-1) === 'list' ? [words, group] : [words]
    const { registeredArguments: args } = command
    const choices = args[0]?.argChoices ?? []
    return names.map((name) => {
      const hasDynamicArguments = args.some((_, index) =>
        hasCandidates([...name, ...args.slice(0, index).map(() => 'any')]),
      )
      return { words: name, summary, flags, hasDynamicArguments, choices }
    })
  })
  return completionScript(shell, root.name(), commands)
}

function hasCandidates(words: string[]): boolean {
  return findCompletionKind({ words, typed: '', replaceStart: 0 }, KCHAT_NAMES) !== undefined
}
