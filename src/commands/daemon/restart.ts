import { BaseCommand } from '../../cli/base-command.js'
import { daemonFlags } from '../../cli/daemon-flags.js'
import { restartDaemon } from '../../cli/daemon-restart.js'

export default class DaemonRestart extends BaseCommand {
  static override summary = 'stop the local daemon and start it at the same address'
  static override isLocalOnly = true
  static override examples = ['<%= config.bin %> daemon restart']
  static override flags = daemonFlags

  async run(): Promise<void> {
    const { flags } = await this.parse(DaemonRestart)
    const { file } = await restartDaemon(this.dirs, flags)
    if (this.out.isJson) this.out.json(file)
    else this.out.line(`started: pid ${file.pid}, ${file.url}`)
  }
}
