import type { Command } from 'commander'
import { type CliError, usageError } from '../cli/cli-error.js'
import { nearest } from '../lib/text/nearest.js'

/** Rewords an error of commander's parser: one sentence with the problem, and the nearest valid word as a hint. */
export function reworded(error: Error, root: Command, argv: readonly string[]): CliError {
  const code = 'code' in error ? String(error.code).replace('commander.', '') : ''
  const text = error.message.replace(/^error: /, '').split('\n')[0] ?? ''
  const { command, path, rest } = commandOf(root, argv)
  const help = `\`${path} --help\``
  switch (code) {
    case 'unknownOption': {
      const flag = /'([^']+)'/.exec(text)?.[1] ?? ''
      if (command === root && isOfSomeCommand(root, flag))
        return usageError(`\`${flag}\` is before the command`, `flags follow the command: \`${path} COMMAND ${flag} …\``)
      const known = command.options.map(({ long }) => long?.slice(2) ?? '')
      const close = nearest(flag.replace(/^-+/, ''), known)
      return usageError(
        `unknown flag \`${flag}\` for \`${path}\``,
        close === undefined ? `${help} lists the flags` : `did you mean \`--${close}\`?`,
      )
    }
    case 'unknownCommand':
      return unknownCommand(command, path, rest)
    case 'excessArguments':
      if (command.commands.length > 0) return unknownCommand(command, path, rest)
      return usageError(`\`${path}\` takes ${counted(text)}`, `${help}; a text of several words needs quotes`)
    case 'missingArgument':
      return usageError(`\`${path}\` needs ${(/'([^']+)'/.exec(text)?.[1] ?? 'an argument').toUpperCase()}`, help)
    case 'missingMandatoryOptionValue':
      return usageError(`\`${path}\` needs \`${/'([^']+)'/.exec(text)?.[1] ?? ''}\``, help)
    case 'optionMissingArgument':
      return usageError(`\`${/(--[^']+)'/.exec(text)?.[1] ?? ''}\` needs a value`, help)
    case 'invalidArgument':
      return usageError(choices(text), help)
    default:
      return usageError(text, help)
  }
}

function isOfSomeCommand({ commands }: Command, flag: string): boolean {
  return commands.some(
    (one) => one.options.some(({ short, long }) => flag === short || flag === long) || isOfSomeCommand(one, flag),
  )
}

/** The command of the words, and the first word that is not part of a command. */
function commandOf(root: Command, argv: readonly string[]): { command: Command; path: string; rest: string } {
  let command = root
  let path = root.name()
  for (const word of argv) {
    if (word.startsWith('-')) continue
    const next = command.commands.find((one) => one.name() === word || one.aliases().includes(word))
    if (next === undefined) return { command, path, rest: word }
    command = next
    path = `${path} ${next.name()}`
  }
  return { command, path, rest: '' }
}

function unknownCommand({ commands }: Command, path: string, word: string): CliError {
  const close = nearest(
    word,
    commands.map((one) => one.name()),
  )
  const hint = close === undefined ? `\`${path} --help\` lists the commands` : `did you mean \`${path} ${close}\`?`
  return usageError(`unknown command \`${path} ${word}\``, hint)
}

/** `too many arguments for 'send'. Expected 1 argument but got 2.` */
function counted(text: string): string {
  const [, expected = 'fewer arguments', got = 'more'] = /Expected (\d+ arguments?) but got (\d+)/.exec(text) ?? []
  return `${expected === '0 arguments' ? 'no argument' : expected}, received ${got}`
}

function choices(text: string): string {
  const found = /'(?:-\w, )?(--[\w-]+)[^']*' argument '(.*)' is invalid\. Allowed choices are (.*)\.$/.exec(text)
  if (found !== null) return `${found[1]} must be one of ${found[3]}, received ${JSON.stringify(found[2])}`
  const argument = /value '(.*)' is invalid for argument '([\w-]+)'\. Allowed choices are (.*)\.$/.exec(text)
  if (argument !== null) return `${argument[2]} must be one of ${argument[3]}, received ${JSON.stringify(argument[1])}`
  return text
}
