import { BaseCommand } from '../../cli/base-command.js'
import { stopDaemon } from '../../cli/daemon-control.js'
import { daemonFlags, daemonWords } from '../../cli/daemon-flags.js'
import { installedService, managerRuns, nextDaemon, systemctl, UNIT } from '../../cli/service/manager.js'
import { findDaemon } from '../../client/local-daemon.js'
import { startDaemon } from '../../client/start-daemon.js'

export default class DaemonRestart extends BaseCommand {
  static override summary = 'stop the local daemon and start it at the same address'
  static override examples = ['<%= config.bin %> daemon restart']
  static override flags = daemonFlags

  async run(): Promise<void> {
    const { flags } = await this.parse(DaemonRestart)
    const dataDir = this.dirs.data
    if (await this.byService()) return
    const stopped = await stopDaemon({ dataDir, force: false })
    const listen = flags.listen ?? (stopped?.file === undefined ? undefined : new URL(stopped.file.url).host)
    const daemon = await startDaemon({
      dataDir,
      args: ['--mode', stopped?.file?.mode ?? 'manual', ...daemonWords({ ...flags, listen })],
      notInstance: stopped?.file?.instance,
    })
    if (this.out.isJson) this.out.json(daemon.file)
    else this.out.line(`started: pid ${daemon.file.pid}, ${daemon.file.url}`)
  }

  /** One that systemd runs is started again by systemd: beside it, it would be two. */
  private async byService(): Promise<boolean> {
    const service = installedService(this.dirs, process.env)
    const before = service === undefined ? undefined : await findDaemon(this.dirs.data)
    if (service === undefined || before?.file.mode !== 'service' || !(await managerRuns(service.kind))) return false
    await systemctl('restart', UNIT)
    const daemon = await nextDaemon(this.dirs.data, before.file.instance)
    if (this.out.isJson) this.out.json(daemon.file)
    else this.out.line(`started: pid ${daemon.file.pid}, ${daemon.file.url}`)
    return true
  }
}
