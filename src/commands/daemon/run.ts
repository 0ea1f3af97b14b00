import { BaseCommand } from '../../cli/base-command.js'
import { daemonFlags, toDaemonArguments } from '../../cli/daemon-flags.js'

export default class DaemonRun extends BaseCommand {
  static override summary = 'run the local daemon in the foreground, like ksd'
  static override isLocalOnly = true
  static override examples = ['<%= config.bin %> daemon run --listen 127.0.0.1:0']
  static override flags = daemonFlags

  async run(): Promise<void> {
    const { flags } = await this.parse(DaemonRun)
    // The only place where the CLI loads the daemon: this process becomes the daemon.
    const { main } = await import('../../daemon/main.js')
    const ready = this.out.isJson ? ['--ready-json'] : []
    await main(['--data-dir', this.dirs.data, ...toDaemonArguments(flags), ...ready])
  }
}
