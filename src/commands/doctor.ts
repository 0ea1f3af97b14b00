import { BaseCommand } from '../cli/base-command.js'
import { ExitWith } from '../cli/cli-error.js'
import { runChecks } from '../cli/doctor/checks.js'
import type { CheckFinding } from '../cli/doctor/finding.js'
import { tty } from '../cli/terminal.js'
import { EXIT } from '../contract/errors.js'

/** Columns for the name of a check. */
const CHECK_WIDTH = 15

export default class Doctor extends BaseCommand {
  static override summary = 'check this installation and suggest fixes; exits with 1 if a check fails'
  static override examples = ['<%= config.bin %> doctor', '<%= config.bin %> doctor --format json']

  async run(): Promise<void> {
    await this.parse(Doctor)
    const allFindings: CheckFinding[] = []
    for await (const finding of runChecks({ dirs: this.dirs, env: process.env, version: this.config.version })) {
      allFindings.push(finding)
      if (this.out.format === 'table') this.printFinding(finding)
    }
    if (this.out.format !== 'table') {
      await this.out.list(allFindings, {
        columns: [{ field: 'check' }, { field: 'state' }, { field: 'found' }, { field: 'fix' }],
        empty: '',
      })
    }
    if (allFindings.some((finding) => finding.state === 'failed')) throw new ExitWith(EXIT.failed)
  }

  private printFinding({ check, state, found, fix }: CheckFinding): void {
    const { ok, warn, bad } = this.out.symbols
    const [mark, colour] = ({ ok: [ok, 'green'], warning: [warn, 'yellow'], failed: [bad, 'red'] } as const)[state]
    this.out.styled(`${this.out.paint(colour, mark)} ${check.padEnd(CHECK_WIDTH)} ${tty(found)}`)
    if (fix !== undefined) this.out.styled(`${' '.repeat(mark.length + 1 + CHECK_WIDTH)} fix: ${tty(fix)}`)
  }
}
