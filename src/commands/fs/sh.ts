import * as Args from '@oclif/core/args'
import { CliError, ExitWith, usageError } from '../../cli/cli-error.js'
import { spaceFlag } from '../../cli/common-flags.js'
import { FsCommand } from '../../cli/fs/fs-command.js'
import type { ScriptOutput } from '../../cli/json-output/machine.js'
import { tty } from '../../cli/terminal.js'
import { EXIT } from '../../contract/errors.js'

/** Duration of a script without `--timeout`. */
const DEFAULT_TIMEOUT_MS = 60_000

export default class FsSh extends FsCommand {
  static override isPaged = true
  static override summary = 'run read-only shell commands with pipes on the files of a space'
  static override description =
    'Commands: ls, find, tree, cd, pwd, cat, grep, rg, head, tail, wc, sort, uniq, cut, sed -n 10,20p, xargs, echo, true; joined by |, ;, && and ||. There are no variables, redirections or programs of this machine. It ends with the exit code of the last command, after at most 60 seconds (`--timeout`).'
  static override examples = [
    '<%= config.bin %> fs sh "find /sources -name \'*.md\' | head -20" --space example-space',
    '<%= config.bin %> fs sh "grep -rl \'restore\' /sources | xargs wc -l | sort -n" --space example-space',
  ]
  static override args = { script: Args.string({ required: true, description: 'commands, quoted as one argument' }) }
  static override flags = { ...spaceFlag }

  async run(): Promise<void> {
    const { args } = await this.parse(FsSh)
    const { runScript, ScriptStoppedError, ShellError } = await import('../../cli/fs/shell/shell.js')
    const lines: string[] = []
    const { isJson, isTerminal } = this.out
    const reader = await this.reader()
    try {
      const exitCode = await runScript(args.script, {
        reader,
        write: (line) => (isJson ? lines.push(line) : this.out.raw(`${isTerminal ? tty(line) : line}\n`)),
        report: (message) => this.out.warn(message),
        timeoutMs: this.common.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      })
      if (isJson) this.out.json({ exitCode, lines } satisfies ScriptOutput)
      if (exitCode !== 0) throw new ExitWith(exitCode)
    } catch (error) {
      if (error instanceof ScriptStoppedError)
        throw new CliError(error.message, {
          code: 'over-limit',
          exit: EXIT.overLimit,
          hint: 'search a deeper folder, or give more time with `--timeout 5m`',
        })
      if (error instanceof ShellError) throw usageError(error.message)
      throw error
    }
  }
}
