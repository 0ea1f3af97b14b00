import { type Command, Option } from 'commander'
import { usageError } from '../cli/cli-error.js'
import { DEFAULT_LIST_LIMIT } from './options.js'

/** The credential that a command needs: an application key, the token of `ks`, or none. */
type CommandCredential = 'chat' | 'manage' | 'keys'

const credentials = new WeakMap<Command, CommandCredential>()

/** Adds a command that acts as an end user of an application. */
export const addChatCommand = createCommandAdder('chat')

/** Adds a command that manages applications with the token of `ks`. */
export const addManageCommand = createCommandAdder('manage')

/** Adds a command that only manages stored keys. */
export const addKeyCommand = createCommandAdder('keys')

function createCommandAdder(credential: CommandCredential) {
  return (parent: Command, usage: string, description: string, options: { isDefault?: boolean } = {}): Command => {
    const child = parent.command(usage, options).description(description)
    credentials.set(child, credential)
    return child
  }
}

/** Adds the options that all commands with the same credential have in common. */
export function addCommonOptions(child: Command): void {
  const credential = credentials.get(child)
  if (credential === undefined) return
  child
    .optionsGroup('Common:')
    .option('--url <url>', 'URL of the service, instead of the local daemon (KCHAT_URL)')
    .option('--context <name>', 'context of ks to use')
    .option('--format <format>', 'table, json, jsonl or tsv')
    .option('--json', 'same as --format json')
    .option('--fields <a,b.c>', 'fields to show, in this order')
    .option('--jq <expr>', 'jq filter for the JSON; prints strings without quotes')
    .option('--template <text>', 'template for the JSON, in Mustache')
    .option('--no-pager', 'print long output without a pager')
    .option('--no-header', 'print tables without a header')
    .option('--no-truncate', 'print tables in full width')
    .option('-q, --quiet', 'print only results and errors')
    .option('-v, --verbose', 'print the service and key on stderr')
    .option('--color', 'use colours even without a terminal')
    .option('--no-color', 'use no colours')
    .option('--timeout <30s>', 'timeout of the command, such as 30s or 5m')
    .option('--no-autostart', 'fail instead of starting the local daemon')
    .option('--debug', 'print request lines, trace ids and stacks on stderr')
  if (credential === 'chat')
    child
      .option('--app <name>', 'stored key to use, instead of the current one (KCHAT_APP)')
      .option('--user <user>', 'end user (KCHAT_USER, else the login name)')
  if (credential === 'manage')
    child
      .option('--token-file <file>', 'file with the access token')
      .option('-y, --yes', 'answer yes to all prompts')
      .option('--no-input', 'never prompt')
  child.addHelpOption(new Option('-h, --help', 'show this help').helpGroup('Common:'))
}

/** Adds the options of a list. */
export function addListOptions(child: Command, defaultLimit = DEFAULT_LIST_LIMIT): Command {
  return child
    .option(
      '--limit <n>',
      `maximum entries (default ${defaultLimit} at a terminal, else all)`,
      parseCountOption('--limit'),
    )
    .option('--all', 'list all entries')
}

/** Collects the values of a repeatable option. */
export function collect(value: string, previous: string[] | false = []): string[] {
  return [...(previous === false ? [] : previous), value]
}

/** Makes a parser for the value of a numeric option, which throws a CliError with exit code 2. */
export function parseNumberOption(option: string): (value: string) => number {
  return (value) => {
    const number = Number(value)
    if (value.trim() !== '' && Number.isFinite(number)) return number
    throw usageError(`${option} must be a number, received ${JSON.stringify(value)}`)
  }
}

/** Makes a parser for the value of an option that is a count, which throws a CliError with exit code 2. */
export function parseCountOption(option: string): (value: string) => number {
  return (value) => {
    if (/^[1-9]\d{0,8}$/.test(value)) return Number(value)
    throw usageError(`${option} must be an integer of at least 1, received ${JSON.stringify(value)}`)
  }
}
