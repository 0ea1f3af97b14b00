import { BaseCommand } from '../../cli/base-command.js'
import { configuredPrograms } from '../../cli/daemon-config.js'
import { confirm } from '../../cli/prompt.js'
import { allowedPrograms, allowPrograms, disallowedPrograms } from '../../local/allowed-programs.js'

export default class ConfigAllowPrograms extends BaseCommand {
  static override summary = "let the daemon start the programs that its data directory's config.json names"
  static override description =
    'A data directory may come from somebody else. What its config.json names as a program is started only after it was allowed on this machine: here, or by setting it with `ks config set providers … --daemon`.'
  static override examples = [
    '<%= config.bin %> config allow-programs',
    '<%= config.bin %> config allow-programs --yes',
  ]

  async run(): Promise<void> {
    await this.parse(ConfigAllowPrograms)
    const strange = disallowedPrograms(configuredPrograms(this.dirs.data), allowedPrograms(this.dirs.config))
    if (strange.length === 0) {
      this.out.note('Every program that config.json names is allowed.')
      return
    }
    for (const argv of strange) this.out.line(JSON.stringify(argv))
    const what = strange.length === 1 ? 'this program' : `these ${strange.length} programs`
    if (!(await confirm(`letting the daemon start ${what}`, this.prompt))) {
      this.out.note('Nothing was allowed.')
      return
    }
    allowPrograms(this.dirs.config, strange)
    this.out.note('hint: `ks daemon restart` puts it in force')
  }
}
