import { type Command, Option } from 'commander'
import { usageError } from '../cli/cli-error.js'

/** Whose key a command needs: of an application, the token of `ks`, or none. */
type Kind = 'chat' | 'manage' | 'keys'

const kinds = new WeakMap<Command, Kind>()

/** A command that speaks as an end user of an application. */
export function chatCommand(parent: Command, usage: string, description: string, isDefault = false): Command {
  return command(parent, usage, description, 'chat', isDefault)
}

/** A command that manages applications with the token of `ks`. */
export function manageCommand(parent: Command, usage: string, description: string, isDefault = false): Command {
  return command(parent, usage, description, 'manage', isDefault)
}

/** A command that only keeps keys. */
export function keyCommand(parent: Command, usage: string, description: string, isDefault = false): Command {
  return command(parent, usage, description, 'keys', isDefault)
}

function command(parent: Command, usage: string, description: string, kind: Kind, isDefault: boolean): Command {
  const made = parent.command(usage, { isDefault }).description(description)
  kinds.set(made, kind)
  return made
}

/** Adds the options that all commands of its kind take, behind its own. */
export function addCommon(child: Command): void {
  const kind = kinds.get(child)
  if (kind === undefined) return
  child
    .optionsGroup('Common:')
    .option('--url <url>', 'address of the service, instead of the local daemon (KCHAT_URL)')
    .option('--context <name>', 'context of ks to use')
    .option('--format <format>', 'table, json, jsonl or tsv')
    .option('--json', 'same as --format json')
    .option('--fields <a,b.c>', 'fields to show, in this order')
    .option('--jq <expr>', 'what jq makes of the JSON, strings without quotes')
    .option('--template <text>', 'a Mustache template for the JSON')
    .option('--no-pager', 'long output at once, also at a terminal')
    .option('--no-header', 'tables without a header')
    .option('--no-truncate', 'tables wider than the terminal')
    .option('-q, --quiet', 'only results and errors')
    .option('-v, --verbose', 'say on stderr which service and key are used')
    .option('--color', 'colours, terminal or not')
    .option('--no-color', 'no colours')
    .option('--timeout <30s>', 'time the whole command may take')
    .option('--no-autostart', 'fail instead of starting the local daemon')
    .option('--debug', 'print request lines, trace ids and stacks on stderr')
  if (kind === 'chat')
    child
      .option('--app <name>', 'stored key to use, instead of the current one (KCHAT_APP)')
      .option('--user <user>', 'end user (KCHAT_USER, else the login name)')
  if (kind === 'manage')
    child
      .option('--token-file <file>', 'file that holds the access token')
      .option('-y, --yes', 'answer yes to every question')
      .option('--no-input', 'never ask')
  child.addHelpOption(new Option('-h, --help', 'show this help').helpGroup('Common:'))
}

/** Options of a list that pages of any size make up. */
export function listOptions(child: Command, byDefault: number): Command {
  return child
    .option('--limit <n>', `how many at most (default ${byDefault} at a terminal, else all)`, countOf('--limit'))
    .option('--all', 'every one')
}

/** A repeatable option: every value that was given. */
export function collect(value: string, before: string[] | false = []): string[] {
  return [...(before === false ? [] : before), value]
}

/** The value of an option that is a number. @throws CliError exit 2 */
export function numberOf(option: string): (value: string) => number {
  return (value) => {
    const number = Number(value)
    if (value.trim() !== '' && Number.isFinite(number)) return number
    throw usageError(`${option} must be a number, received ${JSON.stringify(value)}`)
  }
}

/** The value of an option that counts something. @throws CliError exit 2 */
export function countOf(option: string): (value: string) => number {
  return (value) => {
    if (/^[1-9]\d{0,8}$/.test(value)) return Number(value)
    throw usageError(`${option} must be an integer of at least 1, received ${JSON.stringify(value)}`)
  }
}
