import type { Command } from 'commander'
import { KCHAT, kindOf } from '../cli/completing/kinds.js'
import { type CompletionCommand, completionScript, type Shell } from '../cli/completion.js'

/** A command with its words. The default command of a group also has the words of the group. */
export interface NamedCommand {
  words: string[]
  command: Command
}

/** All commands, in the order of the help. */
export function leafCommands(parent: Command, before: string[] = []): NamedCommand[] {
  return parent.commands.flatMap((command) => {
    const words = [...before, command.name()]
    return command.commands.length === 0 ? [{ words, command }] : leafCommands(command, words)
  })
}

/** `kchat completion SHELL`. */
export function completion(shell: Shell, root: Command): string {
  const commands = leafCommands(root).flatMap(({ words, command }): CompletionCommand[] => {
    const flags = command.options.map(({ long, short, description, required, argChoices }) => ({
      name: long?.slice(2) ?? '',
      char: short?.slice(1),
      description,
      takesValue: required,
      options: argChoices ?? [],
      asks: Object.hasOwn(KCHAT.flags, long ?? ''),
    }))
    const summary = command.description()
    const group = words.slice(0, -1)
    const names = words.at(-1) === 'list' ? [words, group] : [words]
    const { registeredArguments: args } = command
    const choices = args[0]?.argChoices ?? []
    return names.map((name) => {
      const asks = args.some((_, at) => isKnown([...name, ...args.slice(0, at).map(() => 'any')]))
      return { words: name, summary, flags, asks, choices }
    })
  })
  return completionScript(shell, root.name(), commands)
}

function isKnown(words: string[]): boolean {
  return kindOf({ words, typed: '', passed: 0 }, KCHAT) !== undefined
}
