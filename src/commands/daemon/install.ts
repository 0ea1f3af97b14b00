import { chmodSync } from 'node:fs'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.js'
import { stopDaemon } from '../../cli/daemon-control.js'
import { writeKept } from '../../cli/kept-file.js'
import { confirm } from '../../cli/prompt.js'
import {
  commandsFor,
  environmentFile,
  managerRuns,
  nextDaemon,
  serviceFile,
  serviceState,
  serviceText,
  systemctl,
  UNIT,
} from '../../cli/service/manager.js'
import { findDaemon } from '../../client/local-daemon.js'

export default class DaemonInstall extends BaseCommand {
  static override summary = 'have the service manager of this user run the local daemon'
  static override description =
    'Writes a unit of systemd (Linux) or a job of launchd (macOS, untested), shows it first, keeps a copy of a file that was there, and has systemd start it now and with every session. A daemon that runs meanwhile is stopped in order first. Run it again after Node or ks moved.'
  static override examples = ['<%= config.bin %> daemon install --dry-run']
  static override flags = { 'dry-run': Flags.boolean({ description: 'only show what would be written and done' }) }

  async run(): Promise<void> {
    const { flags } = await this.parse(DaemonInstall)
    const file = serviceFile(process.env)
    const { kind, path, before } = file
    const text = serviceText(file, this.dirs, this.config.root, process.env)
    const changes = text !== before
    const runs = await managerRuns(kind)
    const isDry = flags['dry-run']
    const commands = commandsFor(kind, path, 'install')
    if (isDry) {
      if (this.out.isJson) return this.out.json({ kind, path, changes, text, commands, written: false })
      this.out.note(changes ? `${path} would be written` : `${path} says this already`)
      this.out.text(text)
      return this.out.note(`then: ${commands.join('; ')}`)
    }
    if (!changes && runs && (await serviceState(kind)) === 'active') {
      if (this.out.isJson) return this.out.json({ kind, path, changes, started: false, commands: [] })
      return this.out.line(`runs already as a service: ${path}`)
    }
    if (changes) this.out.note(text)
    if (!(await confirm(changes ? `write ${path}` : `start ${UNIT}`, this.prompt))) return
    const backup = changes ? writeKept({ path, text, isNew: before === undefined }) : undefined
    // a manager reads it, and there is nothing secret in it
    chmodSync(path, 0o644)
    if (runs) await this.begin(changes)
    if (this.out.isJson)
      return this.out.json({
        kind,
        path,
        changes,
        backup: backup ?? null,
        started: runs,
        commands: runs ? [] : commands,
      })
    this.out.line(runs ? `runs as a service: ${path}` : `written: ${path}`)
    if (backup !== undefined) this.out.note(`what it was: ${backup}`)
    await this.advise(kind, runs ? [] : commands)
  }

  /** Of two daemons on one data directory the second would not start. */
  private async begin(changes: boolean): Promise<void> {
    await systemctl('daemon-reload')
    const daemon = await findDaemon(this.dirs.data)
    if (daemon !== undefined && daemon.file.mode !== 'service') {
      this.out.note(`stopping the daemon that runs now: pid ${daemon.file.pid}`)
      await stopDaemon({ dataDir: this.dirs.data, force: false })
    }
    await systemctl('enable', UNIT)
    await systemctl(changes ? 'restart' : 'start', UNIT)
    await nextDaemon(this.dirs.data, daemon?.file.instance)
  }

  private async advise(kind: 'systemd' | 'launchd', commands: readonly string[]): Promise<void> {
    if (commands.length > 0) {
      const daemon = await findDaemon(this.dirs.data)
      if (kind === 'launchd') this.out.note('jobs of launchd are untested: tell us what it does')
      else this.out.note('systemd does not run for this user here')
      if (daemon !== undefined)
        this.out.note(`a daemon runs, stop it first: \`ks daemon stop\` (pid ${daemon.file.pid})`)
      this.out.note(`start it with: ${commands.join('; ')}`)
    }
    this.out.note(
      `keys of providers go into ${environmentFile(this.dirs)}, one NAME=value a line, for nobody else to read`,
    )
    if (kind === 'systemd') this.out.note('`loginctl enable-linger` keeps it running while nobody is logged in')
    this.out.note('`ks daemon uninstall` takes it away again')
  }
}
