import { chmodSync } from 'node:fs'
import * as Flags from '@oclif/core/flags'
import { writeWithBackup } from '../../cli/backup-write.js'
import { BaseCommand } from '../../cli/base-command.js'
import { CliError } from '../../cli/cli-error.js'
import { stopDaemon } from '../../cli/daemon-control.js'
import type { ServiceInstallation, ServicePlan, ServiceRemoval } from '../../cli/json-output/daemon.js'
import { confirm } from '../../cli/prompt.js'
import {
  findServiceFile,
  getEnvironmentFile,
  getServiceState,
  isInstalledByUs,
  isManagerRunning,
  listManualCommands,
  removeService,
  renderServiceFile,
  runSystemctl,
  SYSTEMD_UNIT,
  waitForNewDaemon,
} from '../../cli/service/manager.js'
import { findDaemon } from '../../client/local-daemon.js'
import { EXIT } from '../../contract/errors.js'

export default class DaemonInstall extends BaseCommand {
  static override summary = 'run the local daemon as a service of this user, or remove the service'
  static override isLocalOnly = true
  static override description =
    'Shows and writes a unit of systemd (Linux) or a job of launchd (macOS, untested), with a backup of an existing file. systemd starts it now and with every session. A running daemon is first shut down. Run this again after Node or ks has moved.'
  static override examples = [
    '<%= config.bin %> daemon install --dry-run',
    '<%= config.bin %> daemon install --uninstall --dry-run',
  ]
  static override flags = {
    uninstall: Flags.boolean({ description: 'stop and remove the service; data stays' }),
    'dry-run': Flags.boolean({ description: 'show what would be written and done, without doing it' }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(DaemonInstall)
    if (flags.uninstall) return await this.uninstall({ isDryRun: flags['dry-run'] })
    const file = findServiceFile(process.env)
    const { kind, path, existing } = file
    const text = renderServiceFile(file, this.dirs, this.config.root, process.env)
    const changes = text !== existing
    const hasManager = await isManagerRunning(kind)
    const isDryRun = flags['dry-run']
    const commands = listManualCommands(kind, path, 'install')
    if (isDryRun) {
      if (this.out.isJson)
        return this.out.json({ kind, path, changes, text, commands, written: false } satisfies ServicePlan)
      this.out.note(changes ? `${path} would be written` : `${path} is up to date`)
      this.out.text(text)
      return this.out.note(`then: ${commands.join('; ')}`)
    }
    if (!changes && hasManager && (await getServiceState(kind)) === 'active') {
      if (this.out.isJson)
        return this.out.json({ kind, path, changes, started: false, commands: [] } satisfies ServiceInstallation)
      return this.out.line(`already runs as a service: ${path}`)
    }
    if (changes) this.out.note(text)
    if (!(await confirm(changes ? `write ${path}` : `start ${SYSTEMD_UNIT}`, this.prompt))) return
    const backup = changes ? writeWithBackup({ path, text, isNew: existing === undefined }) : undefined
    // The service manager reads the file, which contains no secrets.
    chmodSync(path, 0o644)
    if (hasManager) await this.startService(changes ? 'restart' : 'start')
    if (this.out.isJson)
      return this.out.json({
        kind,
        path,
        changes,
        backup: backup ?? null,
        started: hasManager,
        commands: hasManager ? [] : commands,
      } satisfies ServiceInstallation)
    this.out.line(hasManager ? `runs as a service: ${path}` : `written: ${path}`)
    if (backup !== undefined) this.out.note(`backup: ${backup}`)
    await this.printAdvice(kind, hasManager ? [] : commands)
  }

  private async uninstall({ isDryRun }: { isDryRun: boolean }): Promise<void> {
    const file = findServiceFile(process.env)
    const { kind, path, existing } = file
    if (existing !== undefined && !isInstalledByUs(file))
      throw new CliError(`${path} was not written by \`ks daemon install\``, {
        code: 'conflict',
        exit: EXIT.conflict,
        hint: 'remove it by hand if it is not needed',
      })
    const exists = existing !== undefined
    const hasManager = await isManagerRunning(kind)
    const commands = listManualCommands(kind, path, 'uninstall')
    if (exists && !isDryRun) {
      if (!(await confirm(`stop the service and remove ${path}`, this.prompt))) return
      await removeService(file)
    }
    if (this.out.isJson) return this.out.json({ kind, path, removed: exists && !isDryRun } satisfies ServiceRemoval)
    if (!exists) return this.out.line(`there is no service: ${path}`)
    this.out.line(`${isDryRun ? 'would be removed' : 'removed'}: ${path}`)
    if (!hasManager) this.out.note(`if it runs: ${commands.join('; ')}`)
  }

  /** A second daemon on the same data directory would not start, so the running one is stopped. */
  private async startService(action: 'start' | 'restart'): Promise<void> {
    await runSystemctl('daemon-reload')
    const daemon = await findDaemon(this.dirs.data)
    if (daemon !== undefined && daemon.file.mode !== 'service') {
      this.out.note(`stopping the running daemon: pid ${daemon.file.pid}`)
      await stopDaemon({ dataDir: this.dirs.data, force: false })
    }
    await runSystemctl('enable', SYSTEMD_UNIT)
    await runSystemctl(action, SYSTEMD_UNIT)
    await waitForNewDaemon(this.dirs.data, daemon?.file.instance)
  }

  private async printAdvice(kind: 'systemd' | 'launchd', commands: readonly string[]): Promise<void> {
    if (commands.length > 0) {
      const daemon = await findDaemon(this.dirs.data)
      if (kind === 'launchd') this.out.note('jobs of launchd are untested: please report how it works')
      else this.out.note('systemd does not run for this user here')
      if (daemon !== undefined)
        this.out.note(`a daemon is running; stop it first: \`ks daemon stop\` (pid ${daemon.file.pid})`)
      this.out.note(`start it with: ${commands.join('; ')}`)
    }
    this.out.note(
      `put keys of providers into ${getEnvironmentFile(this.dirs)}, one NAME=value per line, readable by you only`,
    )
    if (kind === 'systemd') this.out.note('`loginctl enable-linger` keeps it running after logout')
    this.out.note('`ks daemon install --uninstall` removes it')
  }
}
