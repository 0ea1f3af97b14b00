import type { Command } from 'commander'
import { usageError } from '../cli/cli-error.js'

/** A command with the options that all of them take. */
export function command(parent: Command, usage: string, description: string, isDefault = false): Command {
  return parent
    .command(usage, { isDefault })
    .description(description)
    .option('--url <url>', 'address of the service, instead of the local daemon (KCHAT_URL)')
    .option('--context <name>', 'context of ks to use')
    .option('--format <format>', 'table, json, jsonl or tsv')
    .option('--json', 'same as --format json')
    .option('--fields <a,b.c>', 'fields to show, in this order')
    .option('-q, --quiet', 'only results and errors')
    .option('--no-color', 'no colours')
    .option('--timeout <30s>', 'time the whole command may take')
    .option('--no-autostart', 'fail instead of starting the local daemon')
    .option('--debug', 'print request lines and trace ids on stderr')
}

/** A command that speaks as an end user of an application. */
export function chatCommand(parent: Command, usage: string, description: string, isDefault = false): Command {
  return command(parent, usage, description, isDefault)
    .option('--app <name>', 'stored key to use, instead of the current one (KCHAT_APP)')
    .option('--user <user>', 'end user (KCHAT_USER, else the login name)')
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
