import type { Command } from '@oclif/core/command'
import { CommandHelp, Help } from '@oclif/core/help'
import { resolveLocalDirs } from '../local/dirs.js'
import { readAliases } from './aliases.js'
import { commonFlags } from './common-flags.js'
import { FIRST_COMMANDS, TOPIC_GROUPS } from './first-page.js'
import { wrapLines } from './prose.js'
import { getTerminalWidth, ttyLine } from './terminal.js'

const MAX_EXAMPLES = 2

/** Help of one command: usage, two examples, its arguments and flags, then all else. */
class OwnFlagsHelp extends CommandHelp {
  protected override defaultUsage(): string {
    const words = Object.values(this.command.args ?? {}).map((arg) => {
      const name = arg.name.toUpperCase() + (this.command.strict === false ? '...' : '')
      return arg.required === true ? name : `[${name}]`
    })
    return [this.command.id.replaceAll(':', ' '), ...words, '[FLAGS]'].join(' ')
  }

  protected override sections() {
    const all = super.sections()
    const order = ['USAGE', 'EXAMPLES', 'ARGUMENTS', 'FLAGS']
    const rank = ({ header }: { header: string }) => (order.includes(header) ? order.indexOf(header) : order.length)
    return all.sort((one, other) => rank(one) - rank(other))
  }

  protected override examples(examples: Command.Example[] | string | undefined) {
    return super.examples(Array.isArray(examples) ? examples.slice(0, MAX_EXAMPLES) : examples)
  }
}

/** The flags that every command has, as help shows them. */
class CommonFlagsHelp extends CommandHelp {
  renderFlags(): string {
    const flags = Object.entries(commonFlags).map(([name, flag]): Command.Flag.Any => {
      const { helpGroup: _, ...own } = flag
      return { ...own, name }
    })
    // The width of the first row is that of a flag with a letter.
    flags.sort((one, other) => Number(other.char !== undefined) - Number(one.char !== undefined))
    return this.section('COMMON FLAGS', this.flags(flags) ?? '')
  }
}

/** The main part of a summary, which fits the first page. */
function shortenSummary(summary: string): string {
  return summary.split(/[;:]|, or /)[0] ?? ''
}

export class KsHelp extends Help {
  protected override CommandHelpClass = OwnFlagsHelp

  override async showCommandHelp(command: Command.Loadable): Promise<void> {
    await super.showCommandHelp(command)
    this.log('Common flags: see `ks help flags`')
  }

  /** The first page: the commands of the first week, and the others by topic. */
  protected override async showRootHelp(): Promise<void> {
    const summaries = new Map([
      ...this.config.topics.map(({ name, description = '' }) => [name, description] as const),
      ...this.config.commands.map(({ id, summary = '' }) => [id, summary] as const),
    ])
    const first = FIRST_COMMANDS.map((id): [string, string] => [id, shortenSummary(summaries.get(id) ?? '')])
    const aliases = Object.keys(readAliases(resolveLocalDirs().config)).map(ttyLine)
    this.log('Turn folders of documents into spaces that you search, question and browse.\n')
    this.log(this.section('USAGE', `$ ${this.config.bin} COMMAND [ARGUMENT...] [FLAGS]`))
    this.log(this.section('FIRST COMMANDS', first))
    this.log(this.section('MORE COMMANDS', [...TOPIC_GROUPS]))
    this.log(aliases.length > 0 ? `Your aliases: ${aliases.join(', ')}` : '')
    this.log('`ks COMMAND --help` explains one, `ks help all` lists all of them.')
    this.log('`ks help TOPIC` has more: flags, exit-codes, environment, formats, ids, agents.')
  }

  /** Every command with its summary. */
  showAllCommands(): void {
    const aliases = new Set(this.config.commands.flatMap((command) => command.aliases))
    const commands = this.config.commands
      .filter(({ id, hidden }) => !hidden && !aliases.has(id))
      .sort((one, other) => (one.id < other.id ? -1 : 1))
    this.log(
      this.section(
        'COMMANDS',
        commands.map(({ id, summary = '' }): [string, string] => [id.replaceAll(':', ' '), summary]),
      ),
    )
  }

  showCommonFlags(): void {
    const [command] = this.config.commands
    if (command !== undefined) this.log(new CommonFlagsHelp(command, this.config, this.opts).renderFlags())
  }

  /** Wraps the sentences above tables; oclif wraps only the tables. */
  protected override log(...args: string[]): void {
    const wrapLine = (line: string) =>
      /^\S/.test(line) ? wrapLines(line, getTerminalWidth(process.stdout, process.env)) : line
    super.log(...(process.stdout.isTTY ? args.map((text) => text.split('\n').map(wrapLine).join('\n')) : args))
  }
}
