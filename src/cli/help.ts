import { CommandHelp, Help } from '@oclif/core/help'
import { resolveLocalDirs } from '../local/dirs.js'
import { readAliases } from './aliases.js'
import { commonFlags } from './common-flags.js'
import { wrapLines } from './prose.js'
import { getTerminalWidth, ttyLine } from './terminal.js'

/** Help of one command: a short usage line, then examples, which most readers look for. */
class ExamplesFirstHelp extends CommandHelp {
  /** Adds the common flags, which the manifest omits: loading them at each start costs time. */
  override generate(): string {
    const common = Object.entries(commonFlags).map(([name, flag]) => [name, { ...flag, name }])
    this.command = { ...this.command, flags: { ...this.command.flags, ...Object.fromEntries(common) } }
    return super.generate()
  }

  protected override defaultUsage(): string {
    const words = Object.values(this.command.args ?? {}).map((arg) => {
      const name = arg.name.toUpperCase() + (this.command.strict === false ? '...' : '')
      return arg.required === true ? name : `[${name}]`
    })
    return [this.command.id.replaceAll(':', ' '), ...words, '[FLAGS]'].join(' ')
  }

  protected override sections() {
    const all = super.sections()
    const examples = all.filter((section) => section.header === 'EXAMPLES')
    const usage = all.filter((section) => section.header === (this.opts.usageHeader ?? 'USAGE'))
    const rest = all.filter((section) => !examples.includes(section) && !usage.includes(section))
    return [...usage, ...examples, ...rest]
  }
}

export class KsHelp extends Help {
  protected override CommandHelpClass = ExamplesFirstHelp

  protected override async showRootHelp(): Promise<void> {
    await super.showRootHelp()
    const aliases = Object.entries(readAliases(resolveLocalDirs().config))
    if (aliases.length === 0) return
    this.log(
      this.section(
        'ALIASES',
        aliases.map(([name, command]): [string, string] => [ttyLine(name), ttyLine(command)]),
      ),
    )
    this.log('')
  }

  /** Wraps the sentences above tables; oclif wraps only the tables. */
  protected override log(...args: string[]): void {
    const wrapLine = (line: string) =>
      /^\S/.test(line) ? wrapLines(line, getTerminalWidth(process.stdout, process.env)) : line
    super.log(...(process.stdout.isTTY ? args.map((text) => text.split('\n').map(wrapLine).join('\n')) : args))
  }
}
