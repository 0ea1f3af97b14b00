import { BaseCommand } from '../../cli/base-command.js'
import { getCredentialsPath } from '../../cli/credentials.js'
import { getDaemonConfigPath } from '../../cli/daemon-config.js'
import { getUserConfigPath } from '../../cli/user-config.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import { getProgramsPath } from '../../local/allowed-programs.js'

export default class ConfigPath extends BaseCommand {
  static override summary = 'print the paths of settings and data'
  static override examples = ['<%= config.bin %> config path', '<%= config.bin %> config path --fields config']

  async run(): Promise<void> {
    await this.parse(ConfigPath)
    const { project } = this.settings
    this.out.record({
      config: getUserConfigPath(this.dirs.config),
      credentials: getCredentialsPath(this.dirs.config),
      programs: getProgramsPath(this.dirs.config),
      daemonConfig: getDaemonConfigPath(this.dirs.data),
      data: this.dirs.data,
      state: this.dirs.state,
      cache: this.dirs.cache,
      ...omitUndefined({ project: project?.path }),
    })
  }
}
