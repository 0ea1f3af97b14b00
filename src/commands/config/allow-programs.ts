import { BaseCommand } from '../../cli/base-command.js'
import { readConfiguredPrograms } from '../../cli/daemon-config.js'
import { confirm } from '../../cli/prompt.js'
import { allowPrograms, findDisallowedPrograms, readAllowedPrograms } from '../../local/allowed-programs.js'

export default class ConfigAllowPrograms extends BaseCommand {
  static override summary = "allow the daemon to start the programs in its data directory's config.json"
  static override description =
    'A data directory may come from another person. Programs in its config.json are started only after they are allowed on this machine: here, or by `ks config set providers … --daemon`.'
  static override examples = [
    '<%= config.bin %> config allow-programs',
    '<%= config.bin %> config allow-programs --yes',
  ]

  async run(): Promise<void> {
    await this.parse(ConfigAllowPrograms)
    const disallowed = findDisallowedPrograms(
      readConfiguredPrograms(this.dirs.data),
      readAllowedPrograms(this.dirs.config),
    )
    if (disallowed.length === 0) {
      this.out.note('All programs in config.json are allowed.')
      return
    }
    for (const argv of disallowed) this.out.line(JSON.stringify(argv))
    const description = disallowed.length === 1 ? 'this program' : `these ${disallowed.length} programs`
    if (!(await confirm(`allowing the daemon to start ${description}`, this.prompt))) {
      this.out.note('Nothing was allowed.')
      return
    }
    allowPrograms(this.dirs.config, disallowed)
    this.out.note('hint: `ks daemon restart` applies it')
  }
}
