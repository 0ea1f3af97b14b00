import { BaseCommand } from '../cli/base-command.js'
import { ExitWith } from '../cli/cli-error.js'
import { findings } from '../cli/doctor/checks.js'
import type { Finding } from '../cli/doctor/finding.js'
import { tty } from '../cli/terminal.js'
import { EXIT } from '../contract/errors.js'

export default class Doctor extends BaseCommand {
  static override summary = 'check this installation and suggest fixes; exits with 1 if a check fails'
  static override examples = ['<%= config.bin %> doctor', '<%= config.bin %> doctor --format json']

  async run(): Promise<void> {
    await this.parse(Doctor)
    const all: Finding[] = []
    for await (const finding of findings({ dirs: this.dirs, env: process.env, version: this.config.version })) {
      all.push(finding)
      if (this.out.format === 'table') this.show(finding)
    }
    if (this.out.format !== 'table') {
      await this.out.list(all, {
        columns: [{ field: 'check' }, { field: 'state' }, { field: 'found' }, { field: 'fix' }],
        empty: '',
      })
    }
    if (all.some((finding) => finding.state === 'failed')) throw new ExitWith(EXIT.failed)
  }

  private show({ check, state, found, fix }: Finding): void {
    const { ok, warn, bad } = this.out.symbols
    const [mark, colour] =
      state === 'ok'
        ? ([ok, 'green'] as const)
        : state === 'warning'
          ? ([warn, 'yellow'] as const)
          : ([bad, 'red'] as const)
    this.out.styled(`${this.out.paint(colour, mark)} ${check.padEnd(15)} ${tty(found)}`)
    if (fix !== undefined) this.out.styled(`${' '.repeat(mark.length)} ${' '.repeat(15)} fix: ${tty(fix)}`)
  }
}
