import { isRecord } from '../lib/json/values.js'
import { findNearest } from '../lib/text/nearest.js'
import { type CliError, usageError } from './cli-error.js'
import { toUnknownCommandError } from './command-not-found.js'
import { quoteShellWord } from './shell-word.js'

/** Data of a failure of oclif's parser. */
interface ArgumentParseFailure {
  message: string
  /** Rejected flags, and missing or rejected arguments. */
  flags: string[]
  args: string[]
  /** Id of the command, with colons. */
  id: string
  /** Names of the command's flags, with those that negate one. */
  flagNames: string[]
  /** Whether only a flag of the command names the space. */
  takesSpace: boolean
}

/**
 * Rewords an error of oclif's parser: one sentence with the flag, and the nearest flag as a hint.
 *
 * @param argv the command line, for errors without a command
 */
export function rewordParserError(error: unknown, commandIds: string[], argv: readonly string[]): CliError | undefined {
  const parsed = toParseFailure(error)
  if (parsed === undefined) return undefined
  const failure = parsed.id === '' ? { ...parsed, id: findCommandId(argv, commandIds) } : parsed
  const command = `ks ${failure.id.replaceAll(':', ' ')}`.trimEnd()
  const flag = failure.flags[0]?.replace(/=.*$/s, '')
  if (/^Nonexistent flag/.test(failure.message) && flag !== undefined) {
    const nearest = findNearest(flag.replace(/^-+/, ''), failure.flagNames)
    const hint = nearest === undefined ? `\`${command} --help\` lists the flags` : `did you mean \`--${nearest}\`?`
    return usageError(`unknown flag \`${flag}\` for \`${command}\``, hint)
  }
  const help = failure.id === '' ? '`ks --help`' : `\`${command} --help\``
  if (/^Unexpected argument/.test(failure.message)) {
    const [argument = ''] = failure.args
    const isTopic = commandIds.some((id) => id.startsWith(`${failure.id}:`))
    const hint = failure.takesSpace ? `did you mean \`--space ${quoteShellWord(argument)}\`?` : undefined
    if (isTopic) return toUnknownCommandError([...failure.id.split(':'), argument], commandIds, hint)
    return usageError(`\`${command}\` takes no argument ${JSON.stringify(argument)}`, hint ?? help)
  }
  if (/^Missing \d+ required arg/.test(failure.message)) {
    return usageError(`\`${command}\` needs ${failure.args.map((name) => name.toUpperCase()).join(' and ')}`, help)
  }
  return usageError(rewordMessage(failure.message), help)
}

/** The command that the first words name. */
function findCommandId(argv: readonly string[], commandIds: readonly string[]): string {
  for (let count = argv.length; count > 0; count--) {
    const id = argv.slice(0, count).join(':')
    if (commandIds.includes(id)) return id
  }
  return ''
}

/**
 * Rejects `--json=true`: oclif would treat the value as an argument, which some commands would then process.
 *
 * @throws CliError exit 2
 */
export function rejectBooleanFlagValues(
  argv: readonly string[],
  flags: Readonly<Record<string, { type: string }>>,
): void {
  const end = argv.indexOf('--')
  for (const arg of end === -1 ? argv : argv.slice(0, end)) {
    const [, name = '', value] = /^--([^=]+)=(.*)$/s.exec(arg) ?? []
    if (value === undefined || !Object.hasOwn(flags, name) || flags[name]?.type !== 'boolean') continue
    throw usageError(
      `--${name} takes no value, received ${JSON.stringify(value)}`,
      `use \`--${name}\` alone, or omit it`,
    )
  }
}

function toParseFailure(error: unknown): ArgumentParseFailure | undefined {
  // Flags that parse their own value fail with a plain oclif error without the command line.
  if (!(error instanceof Error) || !('oclif' in error)) return undefined
  const parse = 'parse' in error ? error.parse : undefined
  const input = isRecord(parse) && isRecord(parse.input) ? parse.input : {}
  const flags = isRecord(input.flags) ? input.flags : {}
  const id = isRecord(input.context) && typeof input.context.id === 'string' ? input.context.id : ''
  return {
    message: error.message,
    flags: 'flags' in error ? toNames(error.flags) : [],
    args: 'args' in error ? toNames(error.args) : [],
    id,
    flagNames: Object.entries(flags).flatMap(([name, flag]) =>
      isRecord(flag) && flag.allowNo === true ? [name, `no-${name}`] : [name],
    ),
    takesSpace: 'space' in flags && !(isRecord(input.args) && 'space' in input.args),
  }
}

function toNames(value: unknown): string[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((entry) => {
    if (typeof entry === 'string') return entry
    return isRecord(entry) && typeof entry.name === 'string' ? entry.name : []
  })
}

/** Extracts the relevant part of oclif's message and rewords it. */
function rewordMessage(message: string): string {
  const text = message
    .replace(/\nSee more help with --help\s*$/, '')
    .replace(/^The following errors? occurred:\s*/, '')
    .replace(/\u001b\[[0-9;]*m/g, '')
    .replace(/\s*\n\s*/g, '; ')
    .trim()
  const options = /^Expected (--[\w-]+)=(.*) to be one of: (.*)$/.exec(text)
  if (options !== null) return `${options[1]} must be one of ${options[3]}, received ${JSON.stringify(options[2])}`
  const integer = /^Parsing (--[\w-]+) ?; ?Expected an? (.*) but received: (.*)$/.exec(text)
  if (integer !== null)
    return `${integer[1]} must be ${rewordRule(integer[2] ?? '')}, received ${JSON.stringify(integer[3])}`
  const argument = /^Expected (.*) to be one of: (.*)$/.exec(text)
  if (argument !== null) return `${JSON.stringify(argument[1])} must be one of ${argument[2]}`
  return text.charAt(0).toLowerCase() + text.slice(1)
}

/** Rewords `integer` or `integer greater than or equal to 1`. */
function rewordRule(text: string): string {
  return `an ${text.replace('greater than or equal to', 'of at least').replace('less than or equal to', 'of at most')}`
}
