import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { stopDaemon } from '../../cli/daemon-control.js'

export default class DaemonStop extends BaseCommand {
  static override summary = 'stop the local daemon and wait until it has left'
  static override examples = ['<%= config.bin %> daemon stop', '<%= config.bin %> daemon stop --force']
  static override flags = { force: Flags.boolean({ description: 'kill it when it has not left after 10 s' }) }

  async run(): Promise<void> {
    const { flags } = await this.parse(DaemonStop)
    const stopped = await stopDaemon({ dataDir: this.dirs.data, force: flags.force })
    if (this.out.isJson) this.out.json({ stopped: stopped !== undefined, ...(stopped && { pid: stopped.file.pid }) })
    else this.out.line(stopped === undefined ? 'no daemon runs' : `stopped: pid ${stopped.file.pid}`)
  }
}
