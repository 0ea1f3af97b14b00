import { join } from 'node:path'
import { usageError } from './cli-error.js'
import { readJsonObject, writeJson } from './json-file.js'

/** Short names that a user gave to commands, in a file of their own for each program. */

const ALIAS_NAME = /^[A-Za-z][\w-]{0,63}$/

export type Aliases = Record<string, string>

export type Aliased = 'ks' | 'kchat'

function aliasesPath(configDir: string, program: Aliased): string {
  return join(configDir, program === 'ks' ? 'aliases.json' : 'chat-aliases.json')
}

/**
 * Refuses an alias that could not be used, or that would hide a command.
 *
 * @param commands words that begin a command of the program
 * @throws CliError with the exit code of wrong usage
 */
export function checkAlias(name: string, command: string, commands: ReadonlySet<string>, program: Aliased): void {
  if (!ALIAS_NAME.test(name))
    throw usageError(`an alias is a letter and up to 63 letters, digits, - and _, received ${JSON.stringify(name)}`)
  if (commands.has(name)) throw usageError(`${JSON.stringify(name)} is a command, which an alias may not hide`)
  const [first = ''] = wordsOf(command)
  if (!commands.has(first))
    throw usageError(
      `an alias begins with a command of ${program}, received ${JSON.stringify(first)}`,
      `\`${program} --help\` lists them`,
    )
}

export function readAliases(configDir: string, program: Aliased = 'ks'): Aliases {
  const raw = readJsonObject(aliasesPath(configDir, program))
  return Object.fromEntries(
    Object.entries(raw).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}

export function writeAliases(configDir: string, aliases: Aliases, program: Aliased = 'ks'): void {
  writeJson(aliasesPath(configDir, program), aliases)
}

/** The words of a line as a shell parts them: spaces, both quotes, and a backslash outside of single ones. @throws CliError exit 2 */
export function wordsOf(line: string): string[] {
  const words: string[] = []
  let word: string | undefined
  let quote = ''
  for (let at = 0; at < line.length; at++) {
    const mark = line[at] ?? ''
    if (quote === '' && /\s/.test(mark)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else if (mark === quote) quote = ''
    else if (quote === '' && (mark === '"' || mark === "'")) {
      quote = mark
      word ??= ''
    } else if (mark === '\\' && quote !== "'") word = (word ?? '') + (line[++at] ?? '')
    else word = (word ?? '') + mark
  }
  if (quote !== '') throw usageError(`a quotation mark is not closed in ${JSON.stringify(line)}`)
  if (word !== undefined) words.push(word)
  return words
}

/**
 * The words that stand for an alias and what follows it. `$1` to `$9` in it are those that follow, each one word whatever
 * it holds; those that it does not name go to the end.
 *
 * @throws CliError exit 2 where one is missing
 */
export function expanded(name: string, line: string, args: readonly string[]): string[] {
  const used = new Set<number>()
  const words = wordsOf(line).map((word) =>
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
 * The command line that is meant, where the first word is an alias.
 *
 * @param isCommand whether a word begins a command or a topic: those are never something else
 */
export function withoutAlias(
  argv: readonly string[],
  configDir: string,
  isCommand: (word: string) => boolean,
  program: Aliased = 'ks',
): string[] | undefined {
  const [first = '', ...rest] = argv
  if (!ALIAS_NAME.test(first) || isCommand(first)) return undefined
  const aliases = readAliases(configDir, program)
  const line = Object.hasOwn(aliases, first) ? aliases[first] : undefined
  return line === undefined ? undefined : expanded(first, line, rest)
}
