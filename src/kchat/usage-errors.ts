import type { Command } from 'commander'
import { type CliError, usageError } from '../cli/cli-error.js'
import { findNearest } from '../lib/text/nearest.js'

/** Rewords an error of commander's parser: one sentence with the problem, and the nearest valid word as a hint. */
export function rewordParserError(error: Error, root: Command, argv: readonly string[]): CliError {
  const code = 'code' in error ? String(error.code).replace('commander.', '') : ''
  const text = error.message.replace(/^error: /, '').split('\n')[0] ?? ''
  const { command, path, unknownWord } = findCommand(root, argv)
  const help = `\`${path} --help\``
  switch (code) {
    case 'unknownOption': {
      const flag = /'([^']+)'/.exec(text)?.[1] ?? ''
      if (command === root && isFlagOfSubcommand(root, flag))
        return usageError(
          `\`${flag}\` is before the command`,
          `flags follow the command: \`${path} COMMAND ${flag} …\``,
        )
      const knownFlags = command.options.map(({ long }) => long?.slice(2) ?? '')
      const nearestName = findNearest(flag.replace(/^-+/, ''), knownFlags)
      return usageError(
        `unknown flag \`${flag}\` for \`${path}\``,
        nearestName === undefined ? `${help} lists the flags` : `did you mean \`--${nearestName}\`?`,
      )
    }
    case 'unknownCommand':
      return createUnknownCommandError(command, path, unknownWord)
    case 'excessArguments':
      if (command.commands.length > 0) return createUnknownCommandError(command, path, unknownWord)
      return usageError(
        `\`${path}\` takes ${formatArgumentCount(text)}`,
        `${help}; a text of several words needs quotes`,
      )
    case 'missingArgument':
      return usageError(`\`${path}\` needs ${(/'([^']+)'/.exec(text)?.[1] ?? 'an argument').toUpperCase()}`, help)
    case 'missingMandatoryOptionValue':
      return usageError(`\`${path}\` needs \`${/'([^']+)'/.exec(text)?.[1] ?? ''}\``, help)
    case 'optionMissingArgument':
      return usageError(`\`${/(--[^']+)'/.exec(text)?.[1] ?? ''}\` needs a value`, help)
    case 'invalidArgument':
      return usageError(formatChoices(text), help)
    default:
      return usageError(text, help)
  }
}

function isFlagOfSubcommand({ commands }: Command, flag: string): boolean {
  return commands.some(
    (command) =>
      command.options.some(({ short, long }) => flag === short || flag === long) || isFlagOfSubcommand(command, flag),
  )
}

/** Finds the command in the words, its path with the program, and the first word that is not part of a command. */
function findCommand(root: Command, argv: readonly string[]): { command: Command; path: string; unknownWord: string } {
  let command = root
  let path = root.name()
  for (const word of argv) {
    if (word.startsWith('-')) continue
    const next = command.commands.find((command) => command.name() === word || command.aliases().includes(word))
    if (next === undefined) return { command, path, unknownWord: word }
    command = next
    path = `${path} ${next.name()}`
  }
  return { command, path, unknownWord: '' }
}

function createUnknownCommandError({ commands }: Command, path: string, unknownWord: string): CliError {
  const nearestName = findNearest(
    unknownWord,
    commands.map((command) => command.name()),
  )
  const hint =
    nearestName === undefined ? `\`${path} --help\` lists the commands` : `did you mean \`${path} ${nearestName}\`?`
  return usageError(`unknown command \`${path} ${unknownWord}\``, hint)
}

/** @param text such as `too many arguments for 'send'. Expected 1 argument but got 2.` */
function formatArgumentCount(text: string): string {
  const [, expected = 'fewer arguments', actual = 'more'] = /Expected (\d+ arguments?) but got (\d+)/.exec(text) ?? []
  return `${expected === '0 arguments' ? 'no argument' : expected}, received ${actual}`
}

/** Rewords the error for a value that is not one of the choices of a flag or argument. */
function formatChoices(text: string): string {
  const flagMatch = /'(?:-\w, )?(--[\w-]+)[^']*' argument '(.*)' is invalid\. Allowed choices are (.*)\.$/.exec(text)
  if (flagMatch !== null)
    return `${flagMatch[1]} must be one of ${flagMatch[3]}, received ${JSON.stringify(flagMatch[2])}`
  const argumentMatch = /value '(.*)' is invalid for argument '([\w-]+)'\. Allowed choices are (.*)\.$/.exec(text)
  if (argumentMatch !== null)
    return `${argumentMatch[2]} must be one of ${argumentMatch[3]}, received ${JSON.stringify(argumentMatch[1])}`
  return text
}
