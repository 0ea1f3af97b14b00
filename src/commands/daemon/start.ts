import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { daemonFlags, toDaemonArguments } from '../../cli/daemon-flags.js'
import {
  findInstalledService,
  isManagerRunning,
  runSystemctl,
  SYSTEMD_UNIT,
  waitForNewDaemon,
} from '../../cli/service/manager.js'
import { findDaemon, type LocalDaemon } from '../../client/local-daemon.js'
import { startDaemon } from '../../client/start-daemon.js'

export default class DaemonStart extends BaseCommand {
  static override summary = 'start the local daemon; it runs until it is stopped'
  static override isLocalOnly = true
  static override examples = [
    '<%= config.bin %> daemon start',
    '<%= config.bin %> daemon start --foreground --listen 127.0.0.1:0',
  ]
  static override flags = {
    ...daemonFlags,
    foreground: Flags.boolean({ description: 'run in this terminal until Ctrl-C, like ksd' }),
    socket: Flags.boolean({ allowNo: true, default: true, description: 'also listen on a unix socket' }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(DaemonStart)
    if (flags.foreground) return await this.runHere(flags)
    const dataDir = this.dirs.data
    const running = await findDaemon(dataDir)
    const daemon =
      running ??
      (await this.startService()) ??
      (await startDaemon({
        dataDir,
        args: ['--mode', 'manual', ...toDaemonArguments(flags)],
        onSlow: () => {
          if (this.out.isErrTerminal) this.out.note(`Starting the local daemon${this.out.symbols.ellipsis}`)
        },
      }))
    if (this.out.isJson) this.out.json(daemon.file)
    else {
      const state = running === undefined ? 'started' : 'already runs'
      this.out.line(`${state}: pid ${daemon.file.pid}, ${daemon.file.url}`)
    }
  }

  /** The only place where the CLI loads the daemon: this process becomes the daemon. */
  private async runHere(flags: Parameters<typeof toDaemonArguments>[0]): Promise<void> {
    const { main } = await import('../../daemon/main.js')
    const ready = this.out.isJson ? ['--ready-json'] : []
    await main(['--data-dir', this.dirs.data, ...toDaemonArguments(flags), ...ready])
  }

  /** Starts the installed service, if there is one. */
  private async startService(): Promise<LocalDaemon | undefined> {
    const service = findInstalledService(this.dirs, process.env)
    if (service === undefined || !(await isManagerRunning(service.kind))) return undefined
    await runSystemctl('start', SYSTEMD_UNIT)
    return await waitForNewDaemon(this.dirs.data)
  }
}
