import { join } from 'node:path'
import { EXIT } from '../contract/errors.js'
import { CliError, usageError } from './cli-error.js'
import { readJsonObject, writeJson } from './json-file.js'

/** Short names that a user gave to commands, stored in one file for each program. */

const ALIAS_NAME = /^[A-Za-z][\w-]{0,63}$/

export type Aliases = Record<string, string>

export type AliasProgram = 'ks' | 'kchat'

function aliasesPath(configDir: string, program: AliasProgram): string {
  return join(configDir, program === 'ks' ? 'aliases.json' : 'chat-aliases.json')
}

/**
 * Stores an alias. Rejects a name or command that cannot be used, or that would hide a command.
 *
 * @param commands first words of all commands of the program
 * @throws CliError exit 2
 */
export function setAlias(
  configDir: string,
  { name, command }: { name: string; command: string },
  commands: ReadonlySet<string>,
  program: AliasProgram,
): void {
  if (!ALIAS_NAME.test(name))
    throw usageError(
      `an alias name must be a letter and up to 63 letters, digits, - and _, received ${JSON.stringify(name)}`,
    )
  if (commands.has(name)) throw usageError(`${JSON.stringify(name)} is a command: an alias cannot replace it`)
  const [first = ''] = splitWords(command)
  if (!commands.has(first))
    throw usageError(
      `an alias must begin with a command of ${program}, received ${JSON.stringify(first)}`,
      `\`${program} --help\` lists them`,
    )
  writeAliases(configDir, { ...readAliases(configDir, program), [name]: command }, program)
}

export function readAliases(configDir: string, program: AliasProgram = 'ks'): Aliases {
  const raw = readJsonObject(aliasesPath(configDir, program))
  return Object.fromEntries(
    Object.entries(raw).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}

function writeAliases(configDir: string, aliases: Aliases, program: AliasProgram): void {
  writeJson(aliasesPath(configDir, program), aliases)
}

/** The command of an alias. @throws CliError exit 5 */
export function requireAlias(configDir: string, name: string, program: AliasProgram): string {
  const aliases = readAliases(configDir, program)
  const command = Object.hasOwn(aliases, name) ? aliases[name] : undefined
  if (command !== undefined) return command
  throw new CliError(`there is no alias ${JSON.stringify(name)}`, {
    code: 'not-found',
    exit: EXIT.notFound,
    hint: `\`${program} alias\` lists them`,
  })
}

/** Deletes an alias. @throws CliError exit 5 */
export function deleteAlias(configDir: string, name: string, program: AliasProgram): void {
  requireAlias(configDir, name, program)
  const { [name]: _, ...others } = readAliases(configDir, program)
  writeAliases(configDir, others, program)
}

/**
 * Splits a line into words as a shell does: at spaces, with both kinds of quotes, and with a backslash outside of
 * single quotes. @throws CliError exit 2
 */
export function splitWords(line: string): string[] {
  const words: string[] = []
  let word: string | undefined
  let quote = ''
  for (let index = 0; index < line.length; index++) {
    const char = line[index] ?? ''
    if (quote === '' && /\s/.test(char)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else if (char === quote) quote = ''
    else if (quote === '' && (char === '"' || char === "'")) {
      quote = char
      word ??= ''
    } else if (char === '\\' && quote !== "'") word = (word ?? '') + (line[++index] ?? '')
    else word = (word ?? '') + char
  }
  if (quote !== '') throw usageError(`a quotation mark is not closed in ${JSON.stringify(line)}`)
  if (word !== undefined) words.push(word)
  return words
}

/**
 * Expands an alias. `$1` to `$9` in its line are replaced by the arguments, each as one word; unused arguments are
 * appended.
 *
 * @throws CliError exit 2 if an argument is missing
 */
export function expandAlias(name: string, line: string, args: readonly string[]): string[] {
  const used = new Set<number>()
  const words = splitWords(line).map((word) =>
    word.replace(/\$([1-9])/g, (_, digit) => {
      const value = args[Number(digit) - 1]
      if (value === undefined) throw usageError(`the alias ${name} needs ${digit} or more arguments: ${line}`)
      used.add(Number(digit) - 1)
      return value
    }),
  )
  return [...words, ...args.filter((_, index) => !used.has(index))]
}

/**
 * Returns the expanded command line if the first word is an alias, else `undefined`.
 *
 * @param isCommand whether a word begins a command or a topic; those are never aliases
 */
export function resolveAlias(
  argv: readonly string[],
  configDir: string,
  isCommand: (word: string) => boolean,
  program: AliasProgram = 'ks',
): string[] | undefined {
  const [first = '', ...args] = argv
  if (!ALIAS_NAME.test(first) || isCommand(first)) return undefined
  const aliases = readAliases(configDir, program)
  const line = Object.hasOwn(aliases, first) ? aliases[first] : undefined
  return line === undefined ? undefined : expandAlias(first, line, args)
}
